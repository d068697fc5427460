"""Reads the rows of a data set from a file: lines or rows, captures in a web archive, or the file itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import UnreadableError
from opensearch_winnow.ingest.sources.field_names import value_at
from opensearch_winnow.ingest.sources.formats import reader
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.row_fields import ROW_FORMATS
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import Damage, Failed, Skipped, SourceFile, Split
from opensearch_winnow.ingest.sources.splits import splits_of
from opensearch_winnow.ingest.sources.unpacked import unpacked

_PIECE = 1 << 20


class ReadRow(NamedTuple):
    """A row as it is read. A file that is not read is `Skipped`, and no row."""

    item: Page | Failed | Skipped
    location: str = ""  # in its file: "line 7"
    value: object = None


def read_rows(file: SourceFile, choice: RowChoice) -> Iterator[ReadRow]:
    """Yield the rows of `file`."""
    return _rows(file, choice) if file.format in ROW_FORMATS else _pages(file, choice)


def _rows(file: SourceFile, choice: RowChoice) -> Iterator[ReadRow]:
    """Yield the rows of a file of rows. Damaged ones fail, each by itself if their number is known."""
    unit = "line" if file.format == "jsonl" else "row"
    number = 0
    try:
        for _, row in reader(file.format).rows(Split(file.format, file.path), choice):
            if row is None:
                return
            if isinstance(row, Damage):
                if not row.rows:
                    yield ReadRow(Failed(Page(file.name, html=b""), row.reason), f"after {unit} {number}")
                for number in range(number + 1, number + row.rows + 1):  # noqa: B020 (goes on from the last row)
                    lost = Failed(Page(f"{file.name}#{number}", html=b""), row.reason)
                    yield ReadRow(lost, f"{unit} {number}")
                continue
            number = row.number
            item = row.item(f"{file.name}#{number}", choice)
            if item is not None:
                value = value_at(row.fields or {}, choice.value_field) if choice.value_field else None
                yield ReadRow(item, f"{unit} {number}", value)
    except (UnreadableError, OSError) as error:
        reason = f"cannot be read: {error.strerror}" if isinstance(error, OSError) else str(error)
        yield ReadRow(Failed(Page(file.name, html=b""), reason), f"after {unit} {number}")


def _pages(file: SourceFile, choice: RowChoice) -> Iterator[ReadRow]:
    """Yield the page that `file` is, or the captures in it."""
    itself = Split("files", file.path, 0, 1, base=file.name, every_text=file.every_text, skipped=file.skipped)
    for split in splits_of(file, sys.maxsize, choice.fields) or [itself]:
        for offset, item in read(split, choice.max_size):
            location = "" if split.format == "files" else f"offset {offset}"
            if isinstance(item, Damage):
                yield ReadRow(Failed(Page(file.name, html=b""), item.reason), location)
            elif isinstance(item, (Page, Failed)) and split.format == "files":
                page = item if isinstance(item, Page) else item.page
                page.url = file.name  # rather than with escapes
                if isinstance(item, Failed) and page.content_type:  # it is too large, and could be read otherwise
                    item = replace(item, rest=_pieces(file.path))
                yield ReadRow(item)
            elif item is not None:
                yield ReadRow(item, location)


def _pieces(path: str) -> Iterator[bytes]:
    with unpacked(path) as opened:
        while piece := opened.read(_PIECE):
            yield piece
