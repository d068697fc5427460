"""From edges to clusters on one machine, and the tables that say so."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from opensearch_winnow.clusters.asked import Linkage
from opensearch_winnow.clusters.columns import column, numbers
from opensearch_winnow.clusters.duckdb_connection import Connection
from opensearch_winnow.clusters.duckdb_edges import EARLIER, LATER, Edges
from opensearch_winnow.clusters.found import Largest
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.cython_core.pair_leaders import PairLeaders

LED = pa.schema([("page", pa.uint32()), ("leader", pa.uint32())])
SCORED = pa.schema([("pair", pa.int64()), ("resemblance", pa.float64()), ("error", pa.float64())])
ROWS = 100_000
TOP = 10

MEMBERS = """
CREATE TABLE members AS
SELECT number, content, leader, coalesce(resemblance, 1.0) AS resemblance, coalesce(error, 0.0) AS error
FROM (
    SELECT number, content, coalesce(leader, content) AS leader, (leader::BIGINT << 32) | content AS pair
    FROM pages LEFT JOIN led ON led.page = content
) LEFT JOIN scores USING (pair)
"""
CLUSTERS = """
SELECT page.url, page.fetched_at, page.id, first.id, first.url, resemblance, error
FROM members JOIN pages page USING (number) JOIN pages first ON first.number = leader
ORDER BY leader, members.number
"""
CHANGES = """
SELECT page.id, first.id
FROM members JOIN pages page USING (number) JOIN pages first ON first.number = leader
WHERE page.cluster <> first.id ORDER BY leader, members.number
"""
EDGES = f"""
SELECT first.url, page.url, first.id, page.id, resemblance, error, rule, '{{scheme}}'
FROM (
    SELECT {EARLIER} AS earlier, {LATER} AS later, resemblance, error,
        CASE WHEN exact THEN 'exact' ELSE 'estimate' END AS rule
    FROM edges
    UNION ALL
    SELECT pages.content, pages.number, 1.0, 0.0,
        CASE WHEN pages.content_digest = original.content_digest AND pages.content_digest <> '' THEN 'content'
             WHEN pages.text_digest = original.text_digest AND pages.text_digest <> '' THEN 'text'
             ELSE 'shingles' END
    FROM pages JOIN pages original ON original.number = pages.content WHERE pages.number <> pages.content
) JOIN pages first ON first.number = earlier JOIN pages page ON page.number = later
ORDER BY earlier, later
"""


class Sizes(NamedTuple):
    sizes: dict[int, int]
    identical_sizes: dict[int, int]
    largest: list[Largest]


class Clusters:
    """Makes the table `members`, and answers about it."""

    def __init__(self, con: Connection, edges: Edges, linkage: Linkage) -> None:
        self._con = con
        self._edges = edges
        if linkage == "representatives":
            leaders = self._leaders()
            con.run("CREATE TABLE scores AS SELECT pair, resemblance, error FROM edges")
        else:
            leaders = self._components()
        con.feed("CREATE TABLE led AS SELECT * FROM fed WHERE page <> leader", LED, _numbered(leaders))
        if linkage == "components":
            self._score()
        con.run(MEMBERS)

    def _leaders(self) -> array[int]:
        leaders = PairLeaders(self._edges.pages)
        for batch in self._con.batches("SELECT pair FROM edges ORDER BY pair"):
            leaders.add(numbers(batch.column(0), "Q"))
        return leaders.leaders

    def _components(self) -> array[int]:
        joined = UnionFind(self._edges.pages)
        for batch in self._con.batches(f"SELECT {EARLIER}::UINTEGER, {LATER}::UINTEGER FROM edges"):
            joined.join_all(numbers(batch.column(0), "I"), numbers(batch.column(1), "I"))
        return joined.labels()

    def _score(self) -> None:
        """How pages resemble the first of a component, also those that are no pair with it."""
        self._con.run("CREATE TABLE scores AS SELECT pair, resemblance, error FROM edges")
        unknown = (
            "SELECT (leader::BIGINT << 32) | page AS pair FROM led"
            " WHERE pair NOT IN (SELECT pair FROM edges) ORDER BY pair"
        )
        self._con.feed("INSERT INTO scores SELECT * FROM fed", SCORED, self._estimates(unknown))

    def _estimates(self, query: str) -> Iterator[pa.RecordBatch]:
        for batch in self._con.batches(query):
            values, errors, _ = self._edges.judge(numbers(batch.column(0), "Q"))
            yield pa.record_batch([batch.column(0), column(values), column(errors)], schema=SCORED)

    def sizes(self) -> Sizes:
        by_size = self._con.rows(
            "SELECT size, count(*), count(*) FILTER (identical) FROM ("
            " SELECT count(*) AS size, min(content) = max(content) AS identical"
            " FROM members GROUP BY leader HAVING size > 1) GROUP BY size ORDER BY size"
        )
        largest = self._con.rows(
            "SELECT size, id, url, title FROM (SELECT leader, count(*) AS size FROM members GROUP BY leader"
            f" HAVING size > 1) JOIN pages ON number = leader ORDER BY size DESC, id LIMIT {TOP}"
        )
        return Sizes(
            sizes={size: clusters for size, clusters, _ in by_size},
            identical_sizes={size: identical for size, _, identical in by_size if identical},
            largest=[Largest(*row) for row in largest],
        )


def _numbered(leaders: array[int]) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(leaders), ROWS):
        end = min(start + ROWS, len(leaders))
        yield pa.record_batch([pa.array(range(start, end), pa.uint32()), column(leaders, start, end)], schema=LED)
