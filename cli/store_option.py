"""The option that names a store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

VARIABLE = "WINNOW_STORE"


def store_option(
    what: str = "The store: a file (crawl.winnow), or http://host:9200/name (with WINNOW_USER and WINNOW_PASSWORD).",
    *,
    required: bool = True,
) -> Callable[[Command], Command]:
    """Give a command --store; its function gets `store`, a name for `stores.opening.open_store`, or None."""
    return click.option(
        "--store",
        metavar="S",
        envvar=VARIABLE,
        show_envvar=True,
        required=required,
        type=click.Path(),
        help=what,
    )
