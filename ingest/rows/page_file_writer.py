"""Writes rows that are files of a folder. Files are copied; web archives are only read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from opensearch_winnow.foundation.atomic_file import reporting_os_errors
from opensearch_winnow.foundation.packed import open_packed
from opensearch_winnow.ingest.rows.read_rows import read_rows
from opensearch_winnow.ingest.rows.row_writer import NextEdit, reading
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import Skipped, SourceFile

_PIECE = 1 << 20


def writer(path: Path, target: Path, packing: str, choice: RowChoice, columns: Mapping[str, type]) -> PageFileWriter:  # noqa: ARG001 (files have no columns)
    return PageFileWriter(path, target, packing, choice)


class PageFileWriter:
    """Copies a file, or writes another text instead, in UTF-8."""

    def __init__(self, path: Path, target: Path, packing: str, choice: RowChoice) -> None:
        self.rows = 0
        self._path, self._target, self._packing, self._choice = path, target, packing, choice

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        for row in read_rows(file, self._choice):
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
