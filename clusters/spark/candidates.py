"""Proposes the pairs of pages to compare: pages that share a token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import (
    DataFrame,
    functions as F,  # noqa: N812
)

from opensearch_winnow.clusters.arrow_columns import to_column, to_numbers
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.cython_core.token_pairs import TokenPairs
from opensearch_winnow.queries.estimates import MIN_SHINGLES

MAX_PAIRS_PER_STEP = 1_000_000  # proposed at a time: 8 MB
TALLY = pa.struct([("common", pa.int64()), ("longest", pa.int64()), ("left_out", pa.int64())])
PROPOSED = "pair long, tally struct<common: long, longest: long, left_out: long>"


def signatures(records: DataFrame, pages: DataFrame, options: ClusteringOptions) -> DataFrame:
    """Return number, shingle count, MinHash and tokens of the first page of each content that has enough shingles."""
    first = pages.where(f"number = content AND shingle_count >= {MIN_SHINGLES}").select("row", "number")
    tokens = F.col("bands") if options.fast else F.concat("bands", "sketch")
    return records.join(first, "row").select("number", "shingle_count", "minhash", tokens.alias("tokens"))


def proposed_pairs(signed: DataFrame, options: ClusteringOptions) -> DataFrame:
    """Return the different pairs, and for each partition a row with a negative pair and its tally of pairs left out."""
    tokens = signed.select("number", F.explode("tokens").alias("token"))
    in_order = tokens.repartition("token").sortWithinPartitions("token", "number")
    return in_order.mapInArrow(partial(_propose_pairs, compared=options.compared), PROPOSED).distinct()


def _propose_pairs(batches: Iterable[pa.RecordBatch], compared: int) -> Iterator[pa.RecordBatch]:
    pairing = TokenPairs(compared)
    step = max(MAX_PAIRS_PER_STEP // compared, 1)
    for batch in batches:
        for start in range(0, len(batch), step):
            part = batch.slice(start, step)
            pairs = pairing.add(to_numbers(part["token"], "Q"), to_numbers(part["number"], "I"))
            if pairs:
                yield pa.record_batch([to_column(pairs), pa.nulls(len(pairs), TALLY)], ["pair", "tally"])
    task = TaskContext.get()
    assert task is not None
    tally = {"common": pairing.common_tokens, "longest": pairing.longest_list, "left_out": pairing.skipped_pairs}
    yield pa.record_batch([pa.array([-1 - task.partitionId()]), pa.array([tally], TALLY)], ["pair", "tally"])


def total_tally(proposed: DataFrame) -> tuple[int, int, int]:
    """Return the number of common tokens, the pages of the most common one, and the pairs left out."""
    tallies = proposed.where("pair < 0").select("tally.*")
    row = tallies.agg(F.sum("common"), F.max("longest"), F.sum("left_out")).collect()[0]
    return row[0] or 0, row[1] or 0, row[2] or 0
