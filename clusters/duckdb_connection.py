"""DuckDB, fed with batches of columns and read in batches; what goes wrong in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from opensearch_winnow.clusters.asked import ClusterError

ROWS = 50_000  # of a batch that is read


class Connection:
    """A database in a folder of its own, that takes no more memory than it is given, and spills the rest into it."""

    def __init__(self, folder: Path, memory: int, threads: int | None) -> None:
        self._database = duckdb.connect(folder / "clusters.duckdb")
        self.run(f"SET memory_limit = '{memory // 1_000_000}MB'")
        self.run(f"SET temp_directory = '{str(folder / 'spilled').replace(chr(39), chr(39) * 2)}'")
        self.run("SET preserve_insertion_order = false")  # it takes memory, and every order that matters is asked for
        if threads:
            self.run(f"SET threads = {threads}")

    def run(self, statement: str) -> None:
        self._database.execute(statement)

    def row(self, query: str) -> tuple[Any, ...]:
        found = self._database.execute(query).fetchone()
        assert found is not None
        return found

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._database.execute(query).fetchall()

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """What a query gives. Others may run meanwhile."""
        with self._database.cursor() as cursor:
            yield from cursor.sql(query).to_arrow_reader(ROWS)

    def through(self, query: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What a query gives that reads batches as the table `fed`."""
        with self._database.cursor() as cursor, _fed(cursor, schema, batches):
            yield from cursor.sql(query).to_arrow_reader(ROWS)

    def feed(self, statement: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Run a statement that reads batches as the table `fed`."""
        with self._database.cursor() as cursor, _fed(cursor, schema, batches):
            cursor.execute(statement)

    def close(self) -> None:
        self._database.close()


@contextmanager
def _fed(cursor: duckdb.DuckDBPyConnection, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[None]:
    raised: list[BaseException] = []

    def passed_on() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except BaseException as error:  # of which DuckDB would make a sentence
            raised.append(error)
            raise

    cursor.register("fed", pa.RecordBatchReader.from_batches(schema, passed_on()))
    try:
        yield
    except Exception:
        if raised:
            raise raised[0] from None
        raise


@contextmanager
def in_words(folder: Path) -> Iterator[None]:
    """What may go wrong in a folder where DuckDB and others work."""
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException as error:
        if "temp" not in str(error).partition("\n")[0]:
            raise ClusterError(f"there is not enough memory, so give more of it (--memory): {_reason(error)}") from None
        raise ClusterError(f"{folder} is full: name another folder to work in (--work)") from None
    except (duckdb.Error, OSError) as error:
        if "No space left" in str(error):
            raise ClusterError(f"{folder} is full: name another folder to work in (--work)") from None
        raise ClusterError(f"{folder} cannot be used to work in: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return re.sub(r"^[A-Za-z ]*Error: ", "", str(error).partition("\n")[0])
