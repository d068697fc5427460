"""The --key-file option, which names the file with the secret key of a store."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from opensearch_winnow.cli.typed_options import typed_options
from opensearch_winnow.foundation.key_file import KEY_OPTION, KEY_VARIABLE

Command = TypeVar("Command", bound=Callable[..., Any])

PARAMETER = "key_file"


def key_file_option(command: Command) -> Command:
    """Give a command --key-file. Its function gets no parameter for it: the library reads the environment."""
    return click.option(
        KEY_OPTION,
        PARAMETER,
        metavar="FILE",
        envvar=KEY_VARIABLE,
        show_envvar=True,
        type=click.Path(),
        expose_value=False,
        callback=_set_variable,
        help="File with the secret key of the scheme, on one line.",
    )(command)


def key_file_words() -> tuple[str, ...]:
    """Return the words that let the next command use the same key, if the user has named a file."""
    return (KEY_OPTION, os.environ[KEY_VARIABLE]) if PARAMETER in typed_options() else ()


def _set_variable(ctx: click.Context, option: click.Parameter, path: str | None) -> None:
    """Name the file in the environment until the command ends.

    Every store that the command opens, and every process that it starts, then reads the key from there, and the list of
    processes shows only the path.
    """
    if path is None or ctx.get_parameter_source(PARAMETER) is not ParameterSource.COMMANDLINE:
        return
    if not path:
        raise click.BadParameter("name a file", ctx, option)
    before = os.environ.get(KEY_VARIABLE)
    os.environ[KEY_VARIABLE] = path
    if ctx.resilient_parsing:
        return  # click closes the context before it completes a word, and this process does nothing else

    @ctx.call_on_close
    def restore() -> None:
        if before is None:
            os.environ.pop(KEY_VARIABLE, None)
        else:
            os.environ[KEY_VARIABLE] = before
