"""Finds the representative of each content that has an edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from opensearch_winnow.clusters.options import Linkage
from opensearch_winnow.clusters.spark.components import components
from opensearch_winnow.clusters.spark.outputs import Scratch
from opensearch_winnow.clusters.spark.verdicts import earlier, judged_pairs, later
from opensearch_winnow.foundation.scheme import Scheme

JOINED = "content int, representative int, resemblance double, error double"
NAMES = ["content", "representative", "resemblance", "error"]
TYPES = [pa.int32(), pa.int32(), pa.float64(), pa.float64()]


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
    """Do what cython_core.pair_representatives does, one component at a time: page numbers may be far apart."""
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
