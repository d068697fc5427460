"""Finds the representative of each content that has an edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import (
    DataFrame,
    Window,
    functions as F,  # noqa: N812
)

from opensearch_winnow.clusters.options import ClusterError, Linkage
from opensearch_winnow.clusters.spark.outputs import Scratch
from opensearch_winnow.clusters.spark.verdicts import earlier, judged_pairs, later
from opensearch_winnow.foundation.scheme import Scheme

JOINED = "content int, representative int, resemblance double, error double"
NAMES = ["content", "representative", "resemblance", "error"]
TYPES = [pa.int32(), pa.int32(), pa.float64(), pa.float64()]
MAX_ROUNDS = 100  # far more than any number of pages needs


def joined_contents(
    edges: DataFrame, signed: DataFrame, *, linkage: Linkage, threshold: float, scheme: Scheme, scratch: Scratch
) -> DataFrame:
    """Return the contents that are not representatives, with their representative and their resemblance to it."""
    linked = edges.select("pair", "resemblance", "error", earlier().alias("smaller"), later().alias("larger"))
    parts = scratch.keep("components", components(linked, scratch))
    if linkage == "components":
        return _join_components(parts, linked, signed, threshold, scheme)
    with_part = linked.join(parts.withColumnRenamed("number", "smaller"), "smaller")
    in_order = with_part.repartition("component").sortWithinPartitions("component", "pair")
    return in_order.select("component", "pair", "resemblance", "error").mapInArrow(_join_representatives, JOINED)


def _join_representatives(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Find representatives as cython_core.pair_representatives does, by component: page numbers may be far apart."""
    current = None
    followers: set[int] = set()
    for batch in batches:
        rows: list[tuple[int, int, float, float]] = []
        for part, pair, resemblance, error in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if part != current:
                current = part
                followers = set()
            one, other = pair >> 32, pair & 0xFFFFFFFF
            # Pairs are sorted: all pairs of `one` with earlier pages are done, so it is known whether `one` follows.
            if one not in followers and other not in followers:
                followers.add(other)
                rows.append((other, one, resemblance, error))
        if rows:
            yield pa.record_batch(list(map(pa.array, zip(*rows, strict=True), TYPES)), NAMES)


def _join_components(
    parts: DataFrame, linked: DataFrame, signed: DataFrame, threshold: float, scheme: Scheme
) -> DataFrame:
    pair = F.shiftleft(F.col("component").cast("long"), 32).bitwiseOR(F.col("number").cast("long"))
    wanted = parts.where("number != component").select(pair.alias("pair"))
    known = wanted.join(linked.select("pair", "resemblance", "error"), "pair", "left")
    # A content without an edge to its representative gets the estimate of its MinHash.
    estimates = judged_pairs(known.where("resemblance IS NULL"), signed, threshold, scheme).drop("verdict")
    scored = known.where("resemblance IS NOT NULL").unionByName(estimates)
    return scored.select(later().alias("content"), earlier().alias("representative"), "resemblance", "error")


def components(edges: DataFrame, scratch: Scratch) -> DataFrame:
    """Return each page that has an edge (`number`) with the smallest page connected to it (`component`).

    `edges` has the columns `smaller` and `larger`, two page numbers.
    """
    links = scratch.keep("links-0", edges.select("larger", "smaller").distinct())
    for turn in range(MAX_ROUNDS):
        if _are_stars(links):
            pages = links.select(F.col("larger").alias("number"), F.col("smaller").alias("component"))
            roots = links.select(F.col("smaller").alias("number"), F.col("smaller").alias("component"))
            return pages.union(roots.distinct())
        links = scratch.keep(f"links-{turn + 1}", _small_star(_large_star(links)))
        scratch.drop(f"links-{turn}")
    raise ClusterError(f"components were not found in {MAX_ROUNDS} rounds; please report this")


def _are_stars(links: DataFrame) -> bool:
    """Return whether every page is linked to at most one smaller page, which itself is linked to no smaller page."""
    up = links.select(F.col("larger").alias("page"), F.lit(1).alias("up"), F.lit(0).alias("down"))
    down = links.select(F.col("smaller").alias("page"), F.lit(0).alias("up"), F.lit(1).alias("down"))
    ends = up.union(down).groupBy("page").agg(F.sum("up").alias("up"), F.sum("down").alias("down"))
    return ends.where("up > 1 OR (up = 1 AND down > 0)").isEmpty()


def _large_star(links: DataFrame) -> DataFrame:
    """Link the larger neighbours of each page to the smallest of the page and all its neighbours."""
    reversed_links = links.select(F.col("smaller").alias("page"), F.col("larger").alias("other"))
    both = links.select(F.col("larger").alias("page"), F.col("smaller").alias("other")).union(reversed_links)
    smallest = F.least("page", F.min("other").over(Window.partitionBy("page")))
    return (
        both.withColumn("smallest", smallest)
        .where("other > page")
        .select(F.col("other").alias("larger"), F.col("smallest").alias("smaller"))
        .distinct()
    )


def _small_star(links: DataFrame) -> DataFrame:
    """Link each page and its smaller neighbours to the smallest of these neighbours."""
    with_smallest = links.withColumn("smallest", F.min("smaller").over(Window.partitionBy("larger")))
    neighbours = with_smallest.where("smaller > smallest").select(
        F.col("smaller").alias("larger"), F.col("smallest").alias("smaller")
    )
    page = with_smallest.select("larger", F.col("smallest").alias("smaller"))
    return neighbours.union(page).distinct()
