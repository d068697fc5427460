"""What to do next, in the same store."""

from __future__ import annotations

import click
from click.core import ParameterSource

from opensearch_winnow.cli.terminal import suggest
from opensearch_winnow.stores.opening import printable


def next_step(ctx: click.Context, *words: str) -> None:
    """Name the command that a reader may want next, with --store unless it comes from the environment."""
    if ctx.get_parameter_source("store") is ParameterSource.COMMANDLINE:
        words += ("--store", printable(ctx.params["store"]))
    suggest(*words)
