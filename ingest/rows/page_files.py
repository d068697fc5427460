"""Reads rows that are files of a folder, and captures in web archives. Files are copied; archives are only read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows.row_format import NextEdit, ReadRow, RowChoice, RowWriter
from opensearch_winnow.ingest.sources import SourceError, SourceFile, printable
from opensearch_winnow.ingest.sources import read as read_split
from opensearch_winnow.ingest.sources.split import Damage, Failed


def read(file: SourceFile, choice: RowChoice) -> Iterator[ReadRow]:
    """Yield the page that `file` is, or the captures in it."""
    for split in file.splits:
        for offset, item in read_split(split, choice.max_size):
            place = "" if split.format == "files" else f"offset {offset}"
            if isinstance(item, Damage):
                yield ReadRow(Failed(Page(file.name, html=b""), item.reason), place)
            elif item is not None:
                yield ReadRow(item, place)


def writer(path: Path, target: Path, choice: RowChoice, columns: Mapping[str, type]) -> RowWriter:
    raise SourceError("files cannot be written yet")
