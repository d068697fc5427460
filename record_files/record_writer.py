"""Adds records to one Parquet file or to a folder of them; a record replaces an older one with the same id."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from opensearch_winnow.foundation.atomic_file import lock
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record, StoredDigests, bytes_in_memory
from opensearch_winnow.mappings.record_columns import as_columns
from opensearch_winnow.mappings.written_scheme import WrittenScheme, other_scheme, written
from opensearch_winnow.record_files.atomic_parquet import AtomicParquet, merge_files
from opensearch_winnow.record_files.parquet_sink import reporting_write_errors
from opensearch_winnow.record_files.reader import (
    latest_rows,
    part_number,
    parts,
    read_columns,
    scheme_of,
)

if TYPE_CHECKING:
    from types import TracebackType

MAX_WAITING_BYTES = 8_000_000  # of records in memory, before they are converted to columns
# In memory, which is some 100 MB on disk, a good size for Spark. A killed run loses this much at most.
MAX_PART_BYTES = 250_000_000


class RecordFileWriter:
    """Adds records to a record file, or to a folder of them if the path ends with / or is a folder.

    A single file appears as a whole when the writer is closed; a file of a folder, called a part, as soon as it is
    full. A record replaces an older one with its id. In a folder, older ones are removed at the end; until then, or
    after a killed run, the record in the later part counts.

    Ctrl-C keeps what was added. Any other exception leaves a file as it was, and a folder with its full parts.
    """

    def __init__(self, path: str | os.PathLike[str], scheme: Scheme) -> None:
        self.count = 0
        self._scheme = written(scheme)
        self._waiting: list[Record] = []
        self._waiting_size = 0
        self._closed = False
        target = Path(path)
        if target.is_symlink():  # the link stays
            target = target.resolve()
        in_folder = os.fspath(path).endswith("/") or target.is_dir()
        self._output = _Folder(target, self._scheme) if in_folder else _SingleFile(target, self._scheme)

    def stored(self) -> Iterator[StoredDigests]:
        """List the committed records. If an id comes twice, the later one counts."""
        rows = read_columns(self._output.path, *StoredDigests._fields) if self._output.files() else iter(())
        return (StoredDigests(*row) for row in rows)

    def add(self, record: Record) -> None:
        """Add a record. It is written with later ones."""
        if self._closed:
            raise ValueError("the writer is closed")
        # Append first, convert to columns later: wherever Ctrl-C comes, a record is kept as a whole or not at all.
        self._waiting.append(record)
        self.count += 1
        self._waiting_size += bytes_in_memory(record)
        if self._waiting_size >= MAX_WAITING_BYTES:
            self._write_waiting()

    def example_url(self) -> str | None:
        """Return the URL of a committed record; None without one."""
        urls = read_columns(self._output.path, "url") if self._output.files() else iter(())
        return next((url for (url,) in urls), None)

    def close(self) -> None:
        """Commit what was added. Closing again does nothing."""
        if self._closed:
            return
        try:
            self._write_waiting()
            self._output.close()
            self._closed = True
        finally:
            if not self._closed:
                self.discard()

    def discard(self) -> None:
        """Drop what was added, except for complete parts of a folder."""
        self._closed = True
        self._output.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            self.close()
        else:
            self.discard()

    def _write_waiting(self) -> None:
        if self._waiting:
            self._output.write(as_columns(self._waiting))
            # After Ctrl-C here they are written twice, but only one row for each id is kept.
            self._waiting, self._waiting_size = [], 0


class _SingleFile:
    def __init__(self, target: Path, scheme: WrittenScheme) -> None:
        self.path = target
        self._scheme = scheme
        _check(target, self.files(), scheme)
        self._new = AtomicParquet(target, scheme)

    def files(self) -> list[Path]:
        return [self.path] if self.path.exists() else []

    def write(self, batch: pa.RecordBatch) -> None:
        self._new.write(batch)

    def close(self) -> None:
        self._new.finish()
        old = self.files()
        files = [*old, self._new.path]
        if old and not self._new.rows:
            self._new.discard()
            return
        keep = latest_rows(files)
        if not old and keep[0].true_count == len(keep[0]):
            self._new.commit()
            return
        merge_files(files, keep, self.path, self._scheme, "merged")
        self._new.discard()

    def discard(self) -> None:
        self._new.discard()


class _Folder:
    def __init__(self, folder: Path, scheme: WrittenScheme) -> None:
        self.path = folder
        self._scheme = scheme
        self._part: AtomicParquet | None = None
        with reporting_write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(folder, os.O_RDONLY)
        try:
            lock(self._descriptor, folder)
            others = [each for each in folder.iterdir() if not each.name.startswith((".", "_"))]
            if others and not self.files():
                raise FileError(f"{folder} is a folder with other files in it; name an empty one, or a new one")
            _check(folder, self.files(), scheme)
            for left in folder.glob(".part-*.parquet.*"):  # left by a run that was killed
                left.unlink()
        except BaseException:
            os.close(self._descriptor)
            raise

    def files(self) -> list[Path]:
        return parts(self.path)

    def write(self, batch: pa.RecordBatch) -> None:
        self._commit_if_full()  # if Ctrl-C came in between last time
        if self._part is None:
            self._part = self._new_part()
        self._part.write(batch)
        self._commit_if_full()

    def _commit_if_full(self) -> None:
        if self._part is not None and self._part.size >= MAX_PART_BYTES:
            self._part.commit()
            self._part = None

    def close(self) -> None:
        if self._part is None and not self.files():
            self._part = self._new_part()  # empty, but it has the scheme
        if self._part is not None:
            self._part.commit()
            self._part = None
        files = self.files()
        for file, keep in zip(files, latest_rows(files), strict=True):
            if len(keep) and not keep.true_count:
                file.unlink()
            elif keep.true_count < len(keep):
                merge_files([file], [keep], file, self._scheme)
        self.discard()

    def discard(self) -> None:
        if self._part is not None:
            self._part.discard()
        descriptor, self._descriptor = self._descriptor, -1  # first, as in AtomicFile
        if descriptor >= 0:
            os.close(descriptor)

    def _new_part(self) -> AtomicParquet:
        number = max(map(part_number, self.files()), default=-1) + 1
        # No second lock: a part that Ctrl-C interrupted while it was opened would keep it, and is opened again.
        return AtomicParquet(self.path / f"part-{number:05}.parquet", self._scheme, alone=True)


def _check(path: Path, files: Sequence[Path], scheme: WrittenScheme) -> None:
    if files:
        found = scheme_of(path)
        if found.id != scheme.id:
            raise other_scheme(path, found, scheme)
