"""The option --ids, for commands that write chosen captures of a store to files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from opensearch_winnow.foundation.errors import FileError

STDIN = "-"


def _read_ids(_ctx: click.Context, _param: click.Parameter, name: str | None) -> list[str] | None:
    if name is None:
        return None
    try:
        text = sys.stdin.read() if name == STDIN else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{name} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None
    return list(dict.fromkeys(text.split()))


ids_option = click.option(
    "--ids",
    metavar="F",
    type=click.Path(allow_dash=True),
    callback=_read_ids,
    help="Only the captures whose ids are in the file F, one on each line; - reads from a pipe.",
)
