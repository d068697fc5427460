"""Reads the text files and HTML files named on the command line."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from opensearch_winnow.foundation.errors import FileError

if TYPE_CHECKING:
    from opensearch_winnow.ingest.page import Page
    from opensearch_winnow.ingest.sources.split import Failed, Skipped
    from opensearch_winnow.mappings.record import Record

Command = TypeVar("Command", bound=Callable[..., Any])

STDIN = "-"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
# White space, byte order marks, and the zero bytes of UTF-16 between them.
BEFORE_MARKUP = b" \t\r\n\f\xef\xbb\xbf\xfe\xff\0"


def text_file(name: str, *, required: bool = True) -> Callable[[Command], Command]:
    """Give a command an argument that names a text file, or is `-` for stdin. `read_text` reads the file."""
    return click.argument(name, type=click.Path(allow_dash=True), callback=require_piped_stdin, required=required)


def file_option(flag: str, *name: str, metavar: str = "F", help: str) -> Callable[[Command], Command]:  # noqa: A002
    """Give a command an option that names a text file, or is `-` for stdin."""
    kind, callback = click.Path(allow_dash=True), require_piped_stdin
    return click.option(flag, *name, metavar=metavar, type=kind, callback=callback, help=help)


def require_piped_stdin(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """Callback of a parameter that may be `-`: show the help instead of waiting for text typed at a terminal."""
    if value == STDIN and sys.stdin.isatty():
        click.echo(ctx.get_help(), err=True)
        click.echo("\nError: - reads from a pipe, but nothing is piped in; name a file.", err=True)
        ctx.exit(2)
    return value


def read_text(name: str) -> str:
    """Return the text of a UTF-8 file with its line ends unchanged, so that offsets count the file's characters."""
    return _decode(_read_bytes(name), name)


def read_text_or_html(name: str) -> tuple[str | None, bytes | None]:
    """Return (text, None) for a UTF-8 file, and (None, bytes) for HTML, whose encoding the extractor detects."""
    content = _read_bytes(name)
    if _looks_like_html(content, name):
        return None, content
    return _decode(content, name), None


def visible_text(name: str, prepare: Callable[[Page], Record | Skipped | Failed]) -> str:
    """Return the text of a UTF-8 file, or the text of the record that `prepare` makes of an HTML file."""
    text, html = read_text_or_html(name)
    if html is None:
        return text or ""
    # Imported here because it takes a tenth of a second, and plain text does not need it.
    from opensearch_winnow.ingest.page import Page  # noqa: PLC0415
    from opensearch_winnow.mappings.record import Record  # noqa: PLC0415

    made = prepare(Page(name, html=html))
    if isinstance(made, Record):
        return made.text
    raise FileError(f"{label(name)} is HTML without text to compare: {made.reason}")


@contextmanager
def opened_file(name: str) -> Iterator[io.BufferedReader]:
    """Open a file, or stdin. Raise a FileError if it cannot be read."""
    try:
        if name == STDIN:
            yield cast(io.BufferedReader, sys.stdin.buffer)
            return
        with open(os.fsencode(name), "rb") as file:  # noqa: PTH123 (a name may be any bytes)
            yield file
    except FileNotFoundError:
        raise FileError(f"there is no file {name}; check the name, or use - to read from a pipe") from None
    except IsADirectoryError:
        raise FileError(f"{name} is a folder; name a file in it") from None
    except OSError as error:
        raise FileError(f"{name} cannot be read: {error.strerror}") from None


def _read_bytes(name: str) -> bytes:
    with opened_file(name) as file:
        return file.read()


def _looks_like_html(content: bytes, name: str) -> bool:
    return name.lower().endswith(HTML_SUFFIXES) or content.lstrip(BEFORE_MARKUP).startswith(b"<")


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(10, 0, error.start) + 1
        where = f"byte {error.start:,} (0x{content[error.start]:02x}, in line {line:,}) cannot be decoded"
        raise FileError(f"{label(name)} is not UTF-8 text: {where}. {_advice(content, name)}") from None


def _advice(content: bytes, name: str) -> str:
    if b"\0" in content and not content.startswith(UTF_16_MARKS):
        return "It looks like a binary file: extract its text first."
    encoding = "UTF-16" if content.startswith(UTF_16_MARKS) else "WINDOWS-1252"
    source = "" if name == STDIN else f" {name}"
    return f"Convert it first, for example: iconv -f {encoding} -t UTF-8{source}"


def label(name: str) -> str:
    """Return the name of a file for messages."""
    return "the piped input" if name == STDIN else name
