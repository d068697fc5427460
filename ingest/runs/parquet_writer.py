"""Writes the records of a run to record files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.runs.pages_before_run import PagesBeforeRun
from opensearch_winnow.ingest.runs.record_writer import RecordWriter
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.record_writer import RecordFileWriter


class ParquetWriter(RecordWriter):
    """Writes the records of a run to a record file, or to a folder of them."""

    def __init__(self, path: str | os.PathLike[str], scheme: Scheme) -> None:
        self._files = RecordFileWriter(path, scheme)

    def pages_before_run(self, folder: Path) -> PagesBeforeRun:
        return PagesBeforeRun.listed(folder, self._files.stored())

    def add(self, record: Record, on_refused: Callable[[str], None]) -> None:  # noqa: ARG002
        """Add a record; none is refused."""
        self._files.add(record)

    def close(self) -> None:
        self._files.close()

    def example_url(self) -> str | None:
        return self._files.example_url()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._files.__exit__(kind, error, traceback)
