"""Writes the captures of a store, or of record files, to one file: as records, rows of a table, or CDXJ."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.errors import FileError, QuestionError
from opensearch_winnow.foundation.option_kinds import FLAG, one_of, several
from opensearch_winnow.foundation.options import option, option_of
from opensearch_winnow.foundation.path_names import PathName
from opensearch_winnow.mappings.capture_row import COLUMNS, TEXT
from opensearch_winnow.mappings.record import as_document
from opensearch_winnow.operations.crawls.export_rows import (
    RowsWritten,
    write_cdxj,
    write_csv,
    write_json,
    write_parquet,
)
from opensearch_winnow.operations.crawls.export_source import FiledRecords, StoredRecords
from opensearch_winnow.queries.filters import CaptureChoice

Format = Literal["parquet", "jsonl", "csv", "cdxj"]
FORMATS: tuple[Format, ...] = get_args(Format)
STDOUT = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions(CaptureChoice):
    """The captures to export, and the format."""

    format: Format | None = option(
        None,
        one_of(*FORMATS),
        "The format. By default, the ending of OUT decides (.parquet, .jsonl, .csv, .cdxj, also with .gz); stdout gets"
        " JSON lines.",
    )
    columns: Sequence[str] | None = option(
        None,
        several(*COLUMNS, TEXT),
        f"Write a table with these columns instead of whole records: {', '.join((*COLUMNS, TEXT))}.",
    )
    representatives: bool = option(False, FLAG, "Only the representative of each cluster.")
    overwrite: bool = option_of(RunSettings, "overwrite")

    def format_of(self, to: str) -> Format:
        """Return the chosen format; by default, the one that the ending of the file names."""
        ending = to.removesuffix(".gz").rpartition(".")[2]
        named = [each for each in FORMATS if each == ending and not to.endswith(".parquet.gz")]
        if not (self.format or named or to == STDOUT):
            endings = ", ".join(f".{each}" for each in FORMATS)
            raise QuestionError(f"{to}: name a file that ends in {endings}, or give the format")
        found = self.format or (named[0] if named else "jsonl")
        if self.columns and found == "cdxj":
            raise QuestionError("columns are not for CDXJ, the fields of which are fixed")
        if to == STDOUT and found == "parquet":
            raise QuestionError("the format parquet needs a file: name one")
        return found


@answer
class ExportReport(Answer):
    """The outcome of an export."""

    records: int = key("The number of captures that were written.")
    bytes: int = key("The number of bytes that were written.")
    seconds: float = key("The time it took.")
    to: str = key("The file that was written; - is standard output.")
    left_out: Mapping[str, int] = key("The captures that an index of archives (CDXJ) cannot list, by reason.")
    no_pages: Mapping[str, int] = key("The records of the archives in a CDXJ that are not pages, by reason.")
    ambiguous: str | None = None  # an archive that a CDXJ cannot distinguish from another of the same name


def export(source: StoredRecords | FiledRecords, to: PathName, options: ExportOptions) -> ExportReport:
    """Write the records of a source. The file appears when it is complete; without records, no file is written."""
    start, name = time.monotonic(), os.fspath(to)
    form, target = options.format_of(name), None if name == STDOUT else Path(name)
    if target is not None:
        if target.exists() and any(file.exists() and target.samefile(file) for file in source.files):
            raise FileError(f"{target} would overwrite an input: name another file")
        check_output(target, overwrite=options.overwrite)
    columns = options.columns or (COLUMNS if form == "csv" else None)
    written = RowsWritten(0, 0) if source.is_empty() else _write(source, target, form, columns)
    no_pages = source.no_pages(written.archives)
    seconds = time.monotonic() - start
    return ExportReport(
        written.rows, written.bytes, seconds, name, dict(written.left_out), dict(no_pages), written.ambiguous
    )


def _write(
    source: StoredRecords | FiledRecords, target: Path | None, form: Format, columns: Sequence[str] | None
) -> RowsWritten:
    """Write the records of a source, whole or with these columns."""
    if form == "cdxj":
        return write_cdxj(target, source.rows())
    if columns is not None:
        rows = source.rows(text=TEXT in columns)
        if form == "csv":
            return write_csv(target, rows, columns)
        return (
            write_parquet(target, rows, columns) if target and form == "parquet" else write_json(target, rows, columns)
        )
    if target and form == "parquet":
        return RowsWritten(source.write_parquet(target), target.stat().st_size)
    return write_json(target, ({"scheme": source.scheme.id, **as_document(each)} for each in source.records()))
