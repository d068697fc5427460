"""A DuckDB database that reads and returns batches of Arrow columns, and reports its errors in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from opensearch_winnow.clusters.options import ClusterError
from opensearch_winnow.clusters.work_folder import full

ROWS_PER_BATCH = 50_000  # of a query's result
DISK_IS_FULL = ("No space left", "failed to offload", "max_temp_directory_size")  # in messages of DuckDB


class Connection:
    """A DuckDB database in `folder` that takes at most `memory` bytes and spills the rest to that folder."""

    def __init__(self, folder: Path, memory: int, threads: int | None) -> None:
        self._database = duckdb.connect(folder / "clusters.duckdb")
        self.run(f"SET memory_limit = '{memory // 1_000_000}MB'")
        self.run(f"SET temp_directory = '{str(folder / 'spilled').replace(chr(39), chr(39) * 2)}'")
        self.run("SET preserve_insertion_order = false")  # saves memory; queries that need an order ask for it
        self.run("PRAGMA disable_checkpoint_on_shutdown")  # the database is removed at the end
        if threads:
            self.run(f"SET threads = {threads}")

    def run(self, statement: str) -> None:
        self._database.execute(statement)

    def row(self, query: str) -> tuple[Any, ...]:
        row = self._database.execute(query).fetchone()
        assert row is not None
        return row

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._database.execute(query).fetchall()

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the result of a query. Other statements may run in between."""
        with self._database.cursor() as cursor:
            yield from cursor.sql(query).to_arrow_reader(ROWS_PER_BATCH)

    def through(self, query: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the result of a query that reads `batches` as the table `input_rows`."""
        with self._database.cursor() as cursor, _input_rows(cursor, schema, batches):
            yield from cursor.sql(query).to_arrow_reader(ROWS_PER_BATCH)

    def feed(self, statement: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Run a statement that reads `batches` as the table `input_rows`."""
        with self._database.cursor() as cursor, _input_rows(cursor, schema, batches):
            cursor.execute(statement)

    def close(self) -> None:
        self._database.close()


@contextmanager
def _input_rows(
    cursor: duckdb.DuckDBPyConnection, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[None]:
    """Register `batches` as the table `input_rows`, and raise their errors unchanged."""
    raised: list[BaseException] = []

    def remembering_errors() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except BaseException as error:  # DuckDB would turn it into the text of another exception
            raised.append(error)
            raise

    cursor.register("input_rows", pa.RecordBatchReader.from_batches(schema, remembering_errors()))
    try:
        yield
    except Exception:
        if raised:
            raise raised[0] from None
        raise


@contextmanager
def reporting_duckdb_errors(folder: Path) -> Iterator[None]:
    """Raise errors of DuckDB, and of files in the work folder, as a ClusterError of one sentence."""
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException as error:
        # DuckDB spills to disk, and reports a full disk as a lack of memory, too.
        if any(sign in str(error) for sign in DISK_IS_FULL):
            raise full(folder) from None
        raise ClusterError(f"not enough memory; allow more with --memory: {_reason(error)}") from None
    except (duckdb.Error, OSError) as error:
        if "No space left" in str(error):
            raise full(folder) from None
        raise ClusterError(f"cannot work in the folder {folder}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return re.sub(r"^[A-Za-z ]*Error: ", "", str(error).partition("\n")[0])
