"""What a clustering leaves for the next one of the same crawl, grown: its contents, and the edges between them.

A content that the state has, with the same first page, has its place among the others still, and with it its pairs;
but for tokens on so many pages that not all of them are paired, if a page has come in between. Contents whose pairs
may be others have changed: all their pairs are made anew, and all other edges stay as they are. Not seen is a record
that has got or lost nothing but its text, by which a pair near the threshold may be decided otherwise: to look at all
texts would take longer than all else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from opensearch_winnow.clusters.asked import ClusterError, Clustering
from opensearch_winnow.clusters.duckdb_connection import Connection
from opensearch_winnow.clusters.table_file import TableFile
from opensearch_winnow.mappings.record_metadata import METADATA

FORMAT = 1
CONTENTS = pa.schema([("number", pa.uint32()), ("key", pa.string()), ("id", pa.string())])
EDGES = pa.schema([("pair", pa.int64()), ("resemblance", pa.float64()), ("error", pa.float64()), ("exact", pa.bool_())])

# Contents by the number that they had, with the one that they have now. One that has another first page is not there.
KNOWN = """
CREATE TABLE known AS
SELECT before.number AS before, pages.number AS page
FROM before JOIN pages USING (key, id) WHERE pages.number = pages.content
"""
# Of tokens on too many pages that not all are paired: pages that came in between, or moved, change the pairs of others.
CHANGED = """
CREATE TABLE changed AS
WITH fresh AS (
    SELECT number AS page, key IN (SELECT key FROM before) AS moved
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
STILL = """
INSERT INTO edges
SELECT (one.page::BIGINT << 32) | other.page, resemblance, error, exact
FROM before_edges
JOIN known one ON one.before = pair >> 32
JOIN known other ON other.before = pair & 4294967295
WHERE one.page NOT IN (SELECT page FROM changed) AND other.page NOT IN (SELECT page FROM changed)
"""


class State:
    """In a folder: `contents.parquet` and `edges.parquet`."""

    def __init__(self, folder: Path, asked: Clustering, scheme: str) -> None:
        self._folder = folder
        self._about = {
            "format": FORMAT,
            "scheme_id": scheme,
            "threshold": asked.threshold,
            "fast": asked.fast,
            "compared": asked.compared,
        }
        self._contents, self._edges = folder / "contents.parquet", folder / "edges.parquet"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            others = {each.name for each in folder.iterdir()} - {self._contents.name, self._edges.name}
        except OSError as error:
            raise ClusterError(f"{folder} cannot be a folder for the state: {error.strerror}") from None
        if others - {f".{self._contents.name}.new", f".{self._edges.name}.new"}:
            raise ClusterError(f"{folder} has other files in it; name an empty folder for the state, or a new one")
        self._usable = self._checked()

    def _checked(self) -> bool:
        """Whether there is one. Refused if it is of something else."""
        if not (self._contents.exists() and self._edges.exists()):
            return False
        abouts = []
        for file in (self._contents, self._edges):
            try:
                abouts.append(json.loads((pq.read_schema(file).metadata or {})[METADATA]))
            except (pa.ArrowException, OSError, KeyError, ValueError):
                raise self._damaged() from None
        for name, wanted in self._about.items():
            if abouts[0].get(name) != wanted:
                raise ClusterError(
                    f"the state in {self._folder} is of {name.replace('_id', '')} {abouts[0].get(name)}, and this is of"
                    f" {wanted}: name another folder, or remove this one"
                )
        return bool(abouts[0]["run"] == abouts[1]["run"])  # else a run was killed between the two

    def _damaged(self) -> ClusterError:
        return ClusterError(f"the state in {self._folder} cannot be read, or is damaged: remove it to start anew")

    def load(self, con: Connection) -> bool:
        """Whether it can be used: not if a content is gone, since nobody knows any more whose pairs it took."""
        if not self._usable:
            return False
        for table, schema, file in (("before", CONTENTS, self._contents), ("before_edges", EDGES, self._edges)):
            con.feed(f"CREATE TABLE {table} AS SELECT * FROM fed", schema, self._read(file))
        con.run(KNOWN)
        (gone,) = con.row("SELECT count(*) FROM before WHERE key NOT IN (SELECT key FROM pages)")
        return not gone

    def _read(self, file: Path) -> Iterator[pa.RecordBatch]:
        try:
            with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
                yield from parquet.iter_batches()
        except (pa.ArrowException, OSError):
            raise self._damaged() from None

    def write(self, con: Connection) -> None:
        """For the next run, in place of what is there."""
        about: dict[str, Any] = {**self._about, "run": uuid4().hex}
        contents = "SELECT number, key, id FROM pages WHERE number = content ORDER BY number"
        edges = "SELECT pair, resemblance, error, exact FROM edges ORDER BY pair"
        files = []
        try:
            for path, schema, query in ((self._contents, CONTENTS, contents), (self._edges, EDGES, edges)):
                files.append(TableFile(path, schema, about, overwrite=True))
                files[-1].write(con.batches(query))
            for file in files:
                file.place()
        finally:
            for file in files:
                file.discard()


def changed_pages(con: Connection, compared: int) -> Iterator[pa.Array]:
    """From the tables `pages`, `known` and `postings`. Makes the table `changed`."""
    con.run(CHANGED.format(compared=compared))
    for batch in con.batches("SELECT page FROM changed"):
        yield batch.column(0)
