"""Completes names that a store keeps: of watches, of boilerplate."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def stored_names(names: Callable[[Index], Iterable[str]]) -> Complete:
    """Return a completion of the `names` in the store that begin with the typed word."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            with Index.open(ctx.params.get("store") or "", create=False) as index:
                return [CompletionItem(name) for name in names(index) if name.startswith(incomplete)]
        except (WinnowError, OSError):
            return []

    return complete
