"""Makes clusters from edges on one machine, and has the queries for the tables to write."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from opensearch_winnow.clusters.arrow_columns import to_column, to_numbers
from opensearch_winnow.clusters.duckdb_connection import Connection
from opensearch_winnow.clusters.duckdb_edges import EARLIER, LATER, Edges
from opensearch_winnow.clusters.options import Linkage
from opensearch_winnow.clusters.result import LargestCluster
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.cython_core.pair_representatives import PairRepresentatives
from opensearch_winnow.queries.searching.representative_rule import RepresentativeRule

FOLLOWERS = pa.schema([("page", pa.uint32()), ("representative", pa.uint32())])
SCORES = pa.schema([("pair", pa.int64()), ("resemblance", pa.float64()), ("error", pa.float64())])
ROWS_PER_BATCH = 100_000
LARGEST_LISTED = 10  # clusters in the result

CREATE_MEMBERS = """
CREATE TABLE members AS
SELECT number, content, representative, coalesce(resemblance, 1.0) AS resemblance, coalesce(error, 0.0) AS error
FROM (
    SELECT number, content, coalesce(representative, content) AS representative,
        (representative::BIGINT << 32) | content AS pair
    FROM pages LEFT JOIN followers ON followers.page = content
) LEFT JOIN scores USING (pair)
"""
# The page that a rule chooses for each representative, and the pair of its content and of that of each member.
CREATE_CHOSEN = """
CREATE TABLE chosen AS
WITH first AS (
    SELECT representative, number AS shown, content AS chosen FROM members JOIN pages USING (number, content) {votes}
    QUALIFY row_number() OVER (PARTITION BY representative ORDER BY {order_by}) = 1
)
SELECT number, content, shown, chosen <> content AS differ,
    (least(chosen, content)::BIGINT << 32) | greatest(chosen, content) AS pair
FROM members JOIN first USING (representative)
"""
JOIN_VOTES = """LEFT JOIN (
    SELECT representative, canonical AS url, count(*) AS votes FROM members JOIN pages USING (number, content)
    WHERE canonical IS NOT NULL GROUP BY representative, canonical
) USING (representative, url)"""
CREATE_CHOSEN_MEMBERS = """
CREATE OR REPLACE TABLE members AS
SELECT number, content, shown AS representative, coalesce(resemblance, 1.0) AS resemblance,
    coalesce(error, 0.0) AS error
FROM chosen LEFT JOIN scores ON differ AND scores.pair = chosen.pair
"""
CLUSTERS = """
SELECT page.url, page.fetched_at, page.id, first.id, first.url, resemblance, error
FROM members JOIN pages page USING (number) JOIN pages first ON first.number = representative
ORDER BY representative, members.number
"""
CHANGES = """
SELECT page.id, first.id
FROM members JOIN pages page USING (number) JOIN pages first ON first.number = representative
WHERE page.cluster <> first.id ORDER BY representative, members.number
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


class ClusterSizes(NamedTuple):
    """Fields of `ClusteringResult` that count clusters."""

    sizes: dict[int, int]
    identical_sizes: dict[int, int]
    largest_clusters: list[LargestCluster]


class Clusters:
    """Creates the table `members`, which has the representative of each page, and counts its clusters.

    With a `rule`, the representative is the page that it chooses.
    """

    def __init__(self, con: Connection, edges: Edges, linkage: Linkage, rule: RepresentativeRule | None = None) -> None:
        self._con = con
        self._edges = edges
        representatives = self._representatives() if linkage == "representatives" else self._components()
        con.run("CREATE TABLE scores AS SELECT pair, resemblance, error FROM edges")
        con.feed(
            "CREATE TABLE followers AS SELECT * FROM input_rows WHERE page <> representative",
            FOLLOWERS,
            _rows(representatives),
        )
        if linkage == "components":
            self._add_scores("SELECT (representative::BIGINT << 32) | page AS pair FROM followers")
        con.run(CREATE_MEMBERS)
        if rule is not None:
            con.run(CREATE_CHOSEN.format(order_by=rule.order_by, votes=JOIN_VOTES if rule.has_votes else ""))
            self._add_scores("SELECT DISTINCT pair FROM chosen WHERE differ")
            con.run(CREATE_CHOSEN_MEMBERS)

    def _representatives(self) -> array[int]:
        representatives = PairRepresentatives(self._edges.pages)
        for batch in self._con.batches("SELECT pair FROM edges ORDER BY pair"):
            representatives.add(to_numbers(batch.column(0), "Q"))
        return representatives.representatives

    def _components(self) -> array[int]:
        components = UnionFind(self._edges.pages)
        for batch in self._con.batches(f"SELECT {EARLIER}::UINTEGER, {LATER}::UINTEGER FROM edges"):
            components.join_all(to_numbers(batch.column(0), "I"), to_numbers(batch.column(1), "I"))
        return components.labels()

    def _add_scores(self, pairs: str) -> None:
        """Add the estimated resemblance of each pair that the query `pairs` selects and that has no score yet."""
        unscored = f"SELECT pair FROM ({pairs}) ANTI JOIN scores USING (pair) ORDER BY pair"
        self._con.run(f"CREATE TABLE unscored AS {unscored}")
        self._con.feed(
            "INSERT INTO scores SELECT * FROM input_rows", SCORES, self._estimates("SELECT pair FROM unscored")
        )
        self._con.run("DROP TABLE unscored")

    def _estimates(self, query: str) -> Iterator[pa.RecordBatch]:
        for batch in self._con.batches(query):
            values, errors, _ = self._edges.judge(to_numbers(batch.column(0), "Q"))
            yield pa.record_batch([batch.column(0), to_column(values), to_column(errors)], schema=SCORES)

    def sizes(self) -> ClusterSizes:
        """Count clusters of two pages or more by size, and list the largest."""
        by_size = self._con.rows(
            "SELECT size, count(*), count(*) FILTER (identical) FROM ("
            " SELECT count(*) AS size, min(content) = max(content) AS identical"
            " FROM members GROUP BY representative HAVING size > 1) GROUP BY size ORDER BY size"
        )
        largest = self._con.rows(
            "SELECT size, id, url, title FROM ("
            " SELECT representative, count(*) AS size FROM members GROUP BY representative"
            f" HAVING size > 1) JOIN pages ON number = representative ORDER BY size DESC, id LIMIT {LARGEST_LISTED}"
        )
        return ClusterSizes(
            sizes={size: clusters for size, clusters, _ in by_size},
            identical_sizes={size: identical for size, _, identical in by_size if identical},
            largest_clusters=[LargestCluster(*row) for row in largest],
        )


def _rows(representatives: array[int]) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(representatives), ROWS_PER_BATCH):
        end = min(start + ROWS_PER_BATCH, len(representatives))
        pages = pa.array(range(start, end), pa.uint32())
        yield pa.record_batch([pages, to_column(representatives, start, end)], schema=FOLLOWERS)
