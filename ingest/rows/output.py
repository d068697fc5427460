"""Writes rows to one file, or to a folder with a file for each source. It appears when it is complete."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from opensearch_winnow.foundation.atomic_file import (
    AtomicFile,
    Unfinished,
    already_there,
    reporting_os_errors,
    sync_folder,
)
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.some_of import some_of
from opensearch_winnow.ingest.rows.row_writer import NextEdit, RowWriter, reading
from opensearch_winnow.ingest.sources import SourceError, csv_file, printable
from opensearch_winnow.ingest.sources.formats import JSON_LINES
from opensearch_winnow.ingest.sources.row_fields import ROW_FORMATS
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import SourceFile
from opensearch_winnow.ingest.sources.unpacked import GZIP, is_packed

LABELS = {"jsonl": "JSONL", "csv_file": "CSV", "parquet": "Parquet"}

_WRITERS = {"jsonl": "json_lines_writer", "csv_file": "csv_rows_writer", "parquet": "parquet_rows_writer"}
_PARQUET = re.compile(r".*\.(?:parquet|pq)", re.IGNORECASE | re.DOTALL)
_NAMES = {"jsonl": JSON_LINES, "csv_file": csv_file.NAME, "parquet": _PARQUET}
_MAX_SHOWN = 5  # files in a message
_STAGE = ".winnow-new"  # a folder inside the target, or its ending beside the target


def _writer(
    file: SourceFile, path: Path, target: Path, packing: str, choice: RowChoice, columns: Mapping[str, type]
) -> RowWriter:
    """Open a writer to `path`, which will be renamed to `target`. `packing` is .gz, .zst or nothing."""
    module = import_module(f"{__package__}.{_WRITERS.get(file.format, 'page_file_writer')}")
    return cast("RowWriter", module.writer(path, target, packing, choice, columns))


class Output(Protocol):
    """Rows that are being written."""

    @property
    def rows(self) -> int:
        """The number of rows that were written."""

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        """Write the rows of `file` as `next_edit` decides."""

    def commit(self) -> None:
        """Complete the files, and move them to their place."""

    def discard(self) -> None:
        """Remove the unfinished files. Does nothing after `commit`."""


class OneFileOutput:
    """Writes the rows of all sources, which have one format, to one file."""

    def __init__(
        self,
        target: Path,
        choice: RowChoice,
        columns: Mapping[str, type],
        is_source: Callable[[str], bool],
        *,
        overwrite: bool,
    ) -> None:
        check_rows_output(target, is_source, overwrite=overwrite)
        self._target, self._choice, self._columns = target, choice, columns
        self._format = ""
        self._writer: RowWriter | None = None
        with reporting_os_errors(target):
            self._atomic = AtomicFile(target)

    @property
    def rows(self) -> int:
        return self._writer.rows if self._writer else 0

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        if self._writer is None:
            self._format = file.format
            packing = name_packing(self._target.name)
            self._writer = _writer(
                file,
                self._atomic.path,
                self._target,
                content_packing(file) if packing is None else packing,
                self._choice,
                self._columns,
            )
        elif file.format != self._format:
            raise SourceError(
                f"{printable(file.path)} is {LABELS[file.format]}, and the sources before it are "
                f"{LABELS[self._format]}: write each to a file of its own, in a folder whose name ends in /"
            )
        self._writer.add(file, next_edit)

    def commit(self) -> None:
        if self._writer:
            self._writer.close()
        with reporting_os_errors(self._target):
            self._atomic.commit()

    def discard(self) -> None:
        if self._writer:
            self._writer.abort()
        self._atomic.discard()


class FolderOutput:
    """Writes a file for each file of the sources, under the same name, below a folder."""

    def __init__(
        self,
        target: Path,
        choice: RowChoice,
        columns: Mapping[str, type],
        is_source: Callable[[str], bool],
        *,
        overwrite: bool,
    ) -> None:
        self.rows = 0
        self._choice, self._columns = choice, columns
        self._writer: RowWriter | None = None
        self._folder = StagedFolder(target, is_source, overwrite=overwrite)

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        rows = file.format in ROW_FORMATS  # other files may not be written at all
        path, target = self._folder.path_of(file.name, parents=rows)
        self._writer = _writer(file, path, target, content_packing(file), self._choice, self._columns)
        self._writer.add(file, next_edit)
        self._writer.close()
        if rows:
            sync_file(path, target)
        self.rows += self._writer.rows
        self._writer = None

    def commit(self) -> None:
        self._folder.commit()

    def discard(self) -> None:
        if self._writer:
            self._writer.abort()
        self._folder.discard()


class StagedFolder(Unfinished):
    """A folder whose files are written to a hidden folder first.

    If the target is new, the hidden folder is renamed; otherwise its files are moved into the target.
    """

    def __init__(self, target: Path, is_source: Callable[[str], bool], *, overwrite: bool) -> None:
        self.target, self._is_source, self._overwrite = target, is_source, overwrite
        self._names: list[str] = []
        if target.exists() and not target.is_dir():
            raise FileError(f"{target} is a file, not a folder: name another")
        self.path = target / _STAGE if target.exists() else target.with_name(f".{target.name}{_STAGE}")
        try:
            self._unfinished = True
            with reporting_os_errors(target):
                self.path.mkdir(exist_ok=True)
                self._descriptor = os.open(self.path, os.O_RDONLY)
                self._lock()
                for left in self.path.iterdir():  # by a process that was killed
                    shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        except BaseException:  # Ctrl-C, too
            self.discard()
            raise

    def path_of(self, name: str, *, parents: bool = True) -> tuple[Path, Path]:
        """Return where to write the file `name`, and where it will be in the end. With `parents`, make its folder."""
        target, path = self.target / name, self.path / name
        self._names.append(name)
        check_rows_output(target, self._is_source, overwrite=self._overwrite)
        if parents:
            with reporting_os_errors(target):
                path.parent.mkdir(parents=True, exist_ok=True)
        return path, target

    def commit(self) -> None:
        """Move the files to the target."""
        with reporting_os_errors(self.target):
            if self.path.parent != self.target:
                self.path.rename(self.target)
                sync_folder(self.target.parent)
            else:
                # Texts that an earlier run has written, and this one drops.
                dropped = [name for name in self._names if not (self.path / name).exists()]
                for folder, _, names in os.walk(self.path):
                    into = self.target / Path(folder).relative_to(self.path)
                    into.mkdir(parents=True, exist_ok=True)
                    for name in names:
                        Path(folder, name).replace(into / name)
                    sync_folder(into)
                for name in dropped:
                    (self.target / name).unlink(missing_ok=True)
                shutil.rmtree(self.path)
        self._release()


def sync_file(path: Path, target: Path) -> None:
    """Sync a file to disk that will be renamed to `target`."""
    with reporting_os_errors(target), path.open("rb") as written:
        os.fsync(written.fileno())


def check_rows_output(target: Path, is_source: Callable[[str], bool], *, overwrite: bool) -> None:
    """Refuse to write onto a source, or onto a file that exists unless it may be overwritten."""
    if is_source(str(target)):
        raise FileError(f"{target} is one of the sources: write to another file")
    if target.exists() and not overwrite:
        raise already_there(target)


def check_folder(target: Path, written: Iterable[str]) -> None:
    """Refuse a folder with files that are not `written`: they would be taken for files of this run."""
    if not target.is_dir():
        return
    names = set(written)
    others = [
        str(path.relative_to(target))
        for path in sorted(target.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(target).parts)
    ]
    others = [name for name in others if name not in names]
    if others:
        raise FileError(
            f"{target} has files that this run does not write: {some_of(list(map(printable, others)), _MAX_SHOWN)}; "
            "remove them, or name another folder"
        )


def format_named(name: str) -> str | None:
    """Return the format of rows that the ending of `name` stands for; None if it stands for none."""
    return next((kind for kind, pattern in _NAMES.items() if pattern.fullmatch(name)), None)


def name_packing(name: str) -> str | None:
    """Return the compression that `name` stands for; None if it says nothing."""
    packing = next((ending for ending in (".gz", ".zst") if name.lower().endswith(ending)), "")
    return packing if packing or format_named(name) else None


def content_packing(file: SourceFile) -> str:
    """Return the compression of a source: .gz, .zst or none."""
    with reading(file), open(file.path, "rb") as source:  # noqa: PTH123
        head = source.read(4)
    return ".gz" if head.startswith(GZIP) else ".zst" if is_packed(head) else ""
