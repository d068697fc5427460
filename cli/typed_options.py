"""Finds the options that were typed on the command line, and not taken from the environment."""

from __future__ import annotations

import click
from click.core import ParameterSource


def typed_options() -> dict[str, str]:
    """Return the options that were typed, such as --to, by the names of their parameters."""
    ctx = click.get_current_context(silent=True)
    if ctx is None:
        return {}
    options = {each.name or "": each.opts[0] for each in ctx.command.params}
    return {
        name: flag for name, flag in options.items() if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def typed_unless(store: str | None, others: object) -> str | None:
    """Return the store; None if only the environment names it, and `others` are named instead."""
    return None if others and "store" not in typed_options() else store
