"""Writes, reads and copies files of rows, for tests."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import zstandard
from pyarrow import parquet as pq

from opensearch_winnow.ingest.rows import Edit, FailedRow, Row
from opensearch_winnow.ingest.rows.row_files import RowFiles
from tests.ingest.sources.archives import Pack

LINE = b'{"id": %d, "text": "x"}\n'


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], **options: Any) -> Path:
    """Write rows in the format, and with the compression, that the name of the file says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, **options)
        return path
    if ".csv" in path.suffixes:
        file = io.StringIO()
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text = file.getvalue()
    else:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    packs: dict[str, Pack] = {".gz": gzip.compress, ".zst": zstandard.compress}
    path.write_bytes(packs.get(path.suffix, bytes)(text.encode()))
    return path


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines, CSV or Parquet."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    lines = path.read_text().splitlines(keepends=True)
    return list(csv.DictReader(lines)) if path.suffix == ".csv" else [json.loads(line) for line in lines]


def keep(number: int) -> Edit:  # noqa: ARG001
    return Edit()


def drop(number: int) -> None:  # noqa: ARG001
    return None


def rows_of(*names: Path | str, **options: Any) -> list[Row | FailedRow]:
    with RowFiles([str(name) for name in names], **options) as files:
        return list(files.rows())


def ids(*names: Path | str, **options: Any) -> list[str]:
    return [row.page.url if isinstance(row, Row) else row.reason for row in rows_of(*names, **options)]


def copied(
    *sources: Path,
    to: Path | str,
    decide: Callable[[int], Edit | None] = keep,
    columns: Mapping[str, type] = {},
    overwrite: bool = False,
    **options: Any,
) -> int:
    """Read the sources, write the rows that `decide` does not drop, and return how many there are."""
    with RowFiles([str(source) for source in sources], **options) as files:
        for _ in files.rows():
            pass
        return files.write(to, decide, columns, overwrite=overwrite)
