"""From the name of a file to its text."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from opensearch_winnow.foundation.errors import WinnowError

Command = TypeVar("Command", bound=Callable[..., Any])

STDIN = "-"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class FileError(WinnowError):
    """A file that cannot be read as text."""


def text_file(name: str) -> Callable[[Command], Command]:
    """An argument that names a text file, or is `-` for what is piped in. It stays a name until `read_text`."""
    return click.argument(name, type=click.Path(allow_dash=True), callback=not_waiting_for_a_terminal)


def not_waiting_for_a_terminal(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """For an argument or an option that may be `-`: help, where a reader would wait for what nobody pipes in."""
    if value == STDIN and sys.stdin.isatty():
        click.echo(ctx.get_help(), err=True)
        click.echo("\nError: - is for text that is piped in, and nothing is: name a file.", err=True)
        ctx.exit(2)
    return value


def read_text(name: str) -> str:
    """The text of a UTF-8 file, newlines and all: an offset in it is one in the file's characters."""
    return decoded(read_bytes(name), name)


def read_bytes(name: str) -> bytes:
    try:
        if name == STDIN:
            return sys.stdin.buffer.read()
        with open(os.fsencode(name), "rb") as file:  # noqa: PTH123 (any bytes can be a name)
            return file.read()
    except FileNotFoundError:
        raise FileError(f"there is no file {name}; check the name, or use - for text that is piped in") from None
    except IsADirectoryError:
        raise FileError(f"{name} is a directory; name a text file in it") from None
    except OSError as error:
        raise FileError(f"{name} cannot be read: {error.strerror}") from None


def decoded(content: bytes, name: str) -> str:
    """The text that the bytes of this file are."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = "what was piped in" if name == STDIN else name
        where = (
            f"byte {error.start:,} (0x{content[error.start]:02x}, in line {content.count(10, 0, error.start) + 1:,})"
        )
        raise FileError(f"{shown} is not UTF-8 text: {where} cannot be read. {_advice(content, name)}") from None


def _advice(content: bytes, name: str) -> str:
    if b"\0" in content and not content.startswith(UTF_16_MARKS):
        return "It looks like a binary file: extract its text first."
    encoding = "UTF-16" if content.startswith(UTF_16_MARKS) else "WINDOWS-1252"
    source = "" if name == STDIN else f" {name}"
    return f"Convert it from its encoding first, for example: iconv -f {encoding} -t UTF-8{source}"
