"""Reads rows that are files of a folder, and captures in web archives. Files are copied; archives are only read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from opensearch_winnow.foundation.atomic_file import reporting_os_errors
from opensearch_winnow.foundation.packed import open_packed
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows.row_format import NextEdit, ReadRow, RowChoice, reading
from opensearch_winnow.ingest.sources import read as read_split
from opensearch_winnow.ingest.sources.split import Damage, Failed, Skipped, SourceFile
from opensearch_winnow.ingest.sources.unpacked import unpacked

_PIECE = 1 << 20


def read(file: SourceFile, choice: RowChoice) -> Iterator[ReadRow]:
    """Yield the page that `file` is, or the captures in it."""
    for split in file.splits:
        for offset, item in read_split(split, choice.max_size):
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


def writer(path: Path, target: Path, packing: str, choice: RowChoice, columns: Mapping[str, type]) -> PageFileWriter:  # noqa: ARG001 (files have no columns)
    return PageFileWriter(path, target, packing, choice)


class PageFileWriter:
    """Copies a file, or writes another text instead, in UTF-8."""

    def __init__(self, path: Path, target: Path, packing: str, choice: RowChoice) -> None:
        self.rows = 0
        self._path, self._target, self._packing, self._choice = path, target, packing, choice

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        for row in read(file, self._choice):
            edit = None if isinstance(row.item, Skipped) else next_edit()
            if edit is None:
                continue
            self.rows += 1
            with reporting_os_errors(self._target):
                self._path.parent.mkdir(parents=True, exist_ok=True)
            if edit.text is not None:
                with open_packed(self._path, self._packing, self._target) as out:
                    out.write(edit.text.encode())
                continue
            with reading(file), open(file.path, "rb") as source, open_packed(self._path, "", self._target) as out:  # noqa: PTH123
                shutil.copyfileobj(source, out, _PIECE)
            status = os.stat(file.path)  # noqa: PTH116
            os.utime(self._path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def close(self) -> None:
        """Do nothing: the file is complete."""

    def abort(self) -> None:
        """Do nothing: the caller removes the file."""
