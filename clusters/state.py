"""The state that a clustering leaves for the next run over the same, grown crawl: its contents and their edges.

A content that is in the state with the same first page keeps its edges: its position among the other contents, and so
its pairs, are the same as before. The exceptions are tokens on too many pages to propose all of their pairs:
if a new page comes between others, their pairs may differ. Such contents count as changed. All pairs of new and changed
contents are compared again, and all other edges are copied.

A record that gained or lost only its text is not noticed, although that may change the verdict on a pair near the
threshold: reading all texts would take longer than everything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from opensearch_winnow.clusters.duckdb_connection import Connection
from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions
from opensearch_winnow.clusters.table_file import TableFile
from opensearch_winnow.mappings.record_metadata import METADATA

FORMAT = 1
CONTENTS = pa.schema([("number", pa.uint32()), ("key", pa.string()), ("id", pa.string())])
EDGES = pa.schema([("pair", pa.int64()), ("resemblance", pa.float64()), ("error", pa.float64()), ("exact", pa.bool_())])

# Contents of the state that still have the same first page: their old and new numbers.
CREATE_KNOWN = """
CREATE TABLE known AS
SELECT old_contents.number AS old_number, pages.number AS page
FROM old_contents JOIN pages USING (key, id) WHERE pages.number = pages.content
"""
# New contents, and contents whose pairs may differ because a page was inserted among the pages of a common token.
CREATE_CHANGED = """
CREATE TABLE changed AS
WITH fresh AS (
    SELECT number AS page, key IN (SELECT key FROM old_contents) AS moved
    FROM pages ANTI JOIN known ON known.page = number WHERE number = content
), touched AS (
    SELECT token, page, fresh.page IS NOT NULL AS is_fresh, coalesce(moved, false) AS moved
    FROM postings LEFT JOIN fresh USING (page)
    WHERE token IN (SELECT token FROM postings SEMI JOIN fresh USING (page))
), shifted AS (
    SELECT token FROM touched GROUP BY token
    HAVING count(*) > {compared} + 1
        AND (bool_or(moved) OR min(page) FILTER (is_fresh) < coalesce(max(page) FILTER (NOT is_fresh), -1))
)
SELECT page FROM fresh UNION SELECT page FROM touched SEMI JOIN shifted USING (token)
"""
COPY_OLD_EDGES = """
INSERT INTO edges
SELECT (one.page::BIGINT << 32) | other.page, resemblance, error, exact
FROM old_edges
JOIN known one ON one.old_number = pair >> 32
JOIN known other ON other.old_number = pair & 4294967295
WHERE one.page NOT IN (SELECT page FROM changed) AND other.page NOT IN (SELECT page FROM changed)
"""


class State:
    """A folder with the files `contents.parquet` and `edges.parquet`."""

    def __init__(self, folder: Path, options: ClusteringOptions, scheme: str) -> None:
        self._folder = folder
        self._metadata = {
            "format": FORMAT,
            "scheme_id": scheme,
            "threshold": options.threshold,
            "fast": options.fast,
            "compared": options.compared,
        }
        self._contents, self._edges = folder / "contents.parquet", folder / "edges.parquet"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            others = {each.name for each in folder.iterdir()} - {self._contents.name, self._edges.name}
        except OSError as error:
            raise ClusterError(f"cannot keep the state in the folder {folder}: {error.strerror}") from None
        if others - {f".{self._contents.name}.new", f".{self._edges.name}.new"}:
            raise ClusterError(f"the folder {folder} has other files: name an empty or a new folder for the state")
        self._usable = self._check()

    def _check(self) -> bool:
        """Return whether the folder has a complete state. Raise an error if it was made with other options."""
        if not (self._contents.exists() and self._edges.exists()):
            return False
        found = []
        for file in (self._contents, self._edges):
            try:
                found.append(json.loads((pq.read_schema(file).metadata or {})[METADATA]))
            except (pa.ArrowException, OSError, KeyError, ValueError):
                raise self._damaged() from None
        for name, value in self._metadata.items():
            if found[0].get(name) != value:
                raise ClusterError(
                    f"the state in {self._folder} was made with {name.replace('_id', '')} {found[0].get(name)}, not"
                    f" {value}: name another folder, or remove this one"
                )
        return bool(found[0]["run"] == found[1]["run"])  # they differ if a run was killed between the two files

    def _damaged(self) -> ClusterError:
        return ClusterError(f"the state in {self._folder} is damaged or cannot be read: remove it to start over")

    def load(self, con: Connection) -> bool:
        """Create the tables `old_contents`, `old_edges` and `known`, and return whether the state can be used.

        It cannot be used if a content is gone: the pairs that this content took from others are not recorded.
        """
        if not self._usable:
            return False
        for table, schema, file in (("old_contents", CONTENTS, self._contents), ("old_edges", EDGES, self._edges)):
            con.feed(f"CREATE TABLE {table} AS SELECT * FROM input_rows", schema, self._read(file))
        con.run(CREATE_KNOWN)
        (gone,) = con.row("SELECT count(*) FROM old_contents WHERE key NOT IN (SELECT key FROM pages)")
        return not gone

    def _read(self, file: Path) -> Iterator[pa.RecordBatch]:
        try:
            with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
                yield from parquet.iter_batches()
        except (pa.ArrowException, OSError):
            raise self._damaged() from None

    def write(self, con: Connection) -> None:
        """Replace the state with the contents and edges of this run."""
        metadata: dict[str, Any] = {**self._metadata, "run": uuid4().hex}
        contents = "SELECT number, key, id FROM pages WHERE number = content ORDER BY number"
        edges = "SELECT pair, resemblance, error, exact FROM edges ORDER BY pair"
        files = []
        try:
            for path, schema, query in ((self._contents, CONTENTS, contents), (self._edges, EDGES, edges)):
                files.append(TableFile(path, schema, metadata, overwrite=True))
                files[-1].write(con.batches(query))
            for file in files:
                file.commit()
        finally:
            for file in files:
                file.discard()


def changed_pages(con: Connection, compared: int) -> Iterator[pa.Array]:
    """Create the table `changed` from `pages`, `known` and `postings`, and yield its pages."""
    con.run(CREATE_CHANGED.format(compared=compared))
    for batch in con.batches("SELECT page FROM changed"):
        yield batch.column(0)
