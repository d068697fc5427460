"""The --store option, and suggestions of a next command that repeat it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.terminal import suggest
from opensearch_winnow.cli.typed_options import typed_options
from opensearch_winnow.foundation.credentials import without_credentials

Command = TypeVar("Command", bound=Callable[..., Any])

STORE_VARIABLE = "WINNOW_STORE"


def store_option(
    what: str = "The store: a file (crawl.winnow), or http://host:9200/name (with WINNOW_USER and WINNOW_PASSWORD).",
    *,
    required: bool = True,
) -> Callable[[Command], Command]:
    """Give a command --store and --key-file; its function gets `store`, a name for `open_store`, or None."""
    option: Callable[[Command], Command] = click.option(
        "--store",
        metavar="S",
        envvar=STORE_VARIABLE,
        show_envvar=True,
        required=required,
        type=click.Path(),
        help=what,
    )
    return lambda command: option(key_file_option(command))


def next_step(*words: str) -> None:
    """Suggest a command to run next, with --store unless the store comes from the environment."""
    if "store" in typed_options():
        words += ("--store", without_credentials(click.get_current_context().params["store"]))
    suggest(*words)
