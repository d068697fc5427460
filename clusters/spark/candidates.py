"""Which pages are compared: those that have a token in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from opensearch_winnow.clusters.asked import Clustering
from opensearch_winnow.clusters.columns import column, numbers
from opensearch_winnow.cython_core.token_pairs import TokenPairs

PAIRS = 1_000_000  # that are made at a time, at most: 8 MB
TALLY = pa.struct([("common", pa.int64()), ("longest", pa.int64()), ("left_out", pa.int64())])
PROPOSED = "pair long, tally struct<common: long, longest: long, left_out: long>"


def signatures(records: DataFrame, pages: DataFrame, asked: Clustering) -> DataFrame:
    """Of the first page of each content that has shingles: its number, MinHash, tokens and number of shingles."""
    first = pages.where("number = content AND shingle_count > 0").select("row", "number")
    tokens = F.col("bands") if asked.fast else F.concat("bands", "sketch")
    return records.join(first, "row").select("number", "shingle_count", "minhash", tokens.alias("tokens"))


def proposed_pairs(signed: DataFrame, asked: Clustering) -> DataFrame:
    """Different pairs; and rows with a tally of what was not proposed, whose pair is negative."""
    tokens = signed.select("number", F.explode("tokens").alias("token"))
    in_order = tokens.repartition("token").sortWithinPartitions("token", "number")
    return in_order.mapInArrow(partial(_paired, most=asked.compared), PROPOSED).distinct()


def _paired(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    pairs = TokenPairs(most)
    step = max(PAIRS // most, 1)
    for batch in batches:
        for start in range(0, len(batch), step):
            part = batch.slice(start, step)
            found = pairs.add(numbers(part["token"], "Q"), numbers(part["number"], "I"))
            if found:
                yield pa.record_batch([column(found), pa.nulls(len(found), TALLY)], ["pair", "tally"])
    task = TaskContext.get()
    assert task is not None
    tally = {"common": pairs.common_tokens, "longest": pairs.longest_list, "left_out": pairs.skipped_pairs}
    yield pa.record_batch([pa.array([-1 - task.partitionId()]), pa.array([tally], TALLY)], ["pair", "tally"])


def tally_of(proposed: DataFrame) -> tuple[int, int, int]:
    """Common tokens, pages of the longest one, pairs that were left out."""
    tallies = proposed.where("pair < 0").select("tally.*")
    row = tallies.agg(F.sum("common"), F.max("longest"), F.sum("left_out")).collect()[0]
    return row[0] or 0, row[1] or 0, row[2] or 0
