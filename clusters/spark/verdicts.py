"""Decides which pairs are alike: by their MinHashes, and near the threshold by their texts."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import (
    Column,
    DataFrame,
    functions as F,  # noqa: N812
)

from opensearch_winnow.clusters.arrow_columns import to_column, to_numbers
from opensearch_winnow.clusters.options import ClusterError
from opensearch_winnow.cython_core.overlap import overlap
from opensearch_winnow.cython_core.pair_verdicts import ALIKE, UNCERTAIN, pair_verdicts
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import side
from opensearch_winnow.queries.estimates import CLEAR_ERRORS

JUDGED = "pair long, resemblance double, error double, verdict byte"
DECIDED = "pair long, resemblance double, error double, exact boolean, alike boolean"


def earlier() -> Column:
    """Return the number of the earlier page of a pair."""
    return F.shiftright("pair", 32).cast("int").alias("earlier")


def later() -> Column:
    """Return the number of the later page of a pair."""
    return F.col("pair").bitwiseAND(2**32 - 1).cast("int").alias("later")


def judged_pairs(pairs: DataFrame, signed: DataFrame, threshold: float, scheme: Scheme) -> DataFrame:
    """Return each pair with its estimated resemblance, the standard error, and the verdict."""
    pages = signed.select("number", "shingle_count", "minhash")
    return both_sides(pairs.select("pair"), pages).mapInArrow(
        partial(_judge, threshold=threshold, bits=scheme.bits, size=scheme.bins * scheme.bits // 8), JUDGED
    )


def both_sides(pairs: DataFrame, pages: DataFrame, how: str = "inner") -> DataFrame:
    """Return the pairs with the columns of the earlier page, and the columns of the later page prefixed by other_."""
    other = pages.select(
        F.col("number").alias("later"), *(F.col(name).alias(f"other_{name}") for name in _other_columns(pages))
    )
    one = pages.withColumnRenamed("number", "earlier")
    sides = pairs.select("*", earlier(), later())
    return sides.join(one, "earlier", how).join(other, "later", how)


def _other_columns(pages: DataFrame) -> list[str]:
    return [name for name in pages.columns if name != "number"]


def _judge(batches: Iterable[pa.RecordBatch], threshold: float, bits: int, size: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        count = len(batch)
        if count:
            # First the earlier pages of all pairs, then the later ones.
            minhashes = b"".join((joined_bytes(batch["minhash"]), joined_bytes(batch["other_minhash"])))
            counts = array("I", to_numbers(batch["shingle_count"], "I"))
            counts.extend(to_numbers(batch["other_shingle_count"], "I"))
            pairs = array("Q", ((i << 32) | (count + i) for i in range(count)))
            if len(minhashes) != 2 * count * size:
                raise ClusterError(f"a record has a MinHash of another size than the {size} bytes of its scheme")
            judged = pair_verdicts(pairs, minhashes, counts, size, threshold=threshold, bits=bits, clear=CLEAR_ERRORS)
            values, errors, verdicts = (to_column(each) for each in judged)
            yield pa.record_batch(
                [batch["pair"], values, errors, verdicts.cast(pa.int8())], ["pair", "resemblance", "error", "verdict"]
            )


def joined_bytes(column: pa.Array) -> memoryview:
    """Return all values of a binary column, concatenated."""
    _, offsets, content = column.buffers()
    ends = memoryview(offsets).cast("B").cast("i")
    start, end = ends[column.offset], ends[column.offset + len(column)]
    return memoryview(content)[start:end]


def shingle_sets(judged: DataFrame, pages: DataFrame, records: DataFrame, scheme: Scheme) -> DataFrame:
    """Return the shingles of each page that is in an uncertain pair and has a text."""
    uncertain = judged.where(F.col("verdict") == UNCERTAIN)
    numbers = uncertain.select(earlier().alias("number")).union(uncertain.select(later().alias("number"))).distinct()
    wanted = pages.select("number", "row").join(numbers, "number")
    texts = records.select("row", "url", "text").where("text != ''").join(wanted, "row")
    return texts.select("number", "url", "text").mapInArrow(
        partial(_make_shingles, scheme=scheme), "number int, shingles binary"
    )


def _make_shingles(batches: Iterable[pa.RecordBatch], scheme: Scheme) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        pages = zip(batch["url"].to_pylist(), batch["text"].to_pylist(), strict=True)
        sets = [side(text, scheme, name=url).shingles.tobytes() for url, text in pages]
        yield pa.record_batch([batch["number"], pa.array(sets, pa.binary())], ["number", "shingles"])


def decided_by_text(judged: DataFrame, shingles: DataFrame, threshold: float) -> DataFrame:
    """Decide the uncertain pairs: exactly if both pages have a text, otherwise by the estimate."""
    uncertain = judged.where(F.col("verdict") == UNCERTAIN).drop("verdict")
    return both_sides(uncertain, shingles, "left").mapInArrow(partial(_compare, threshold=threshold), DECIDED)


def _compare(batches: Iterable[pa.RecordBatch], threshold: float) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = []
        for pair, resemblance, error, ours, theirs in zip(
            *(batch[name] for name in ("pair", "resemblance", "error", "shingles", "other_shingles")), strict=True
        ):
            value, wrong = resemblance.as_py(), error.as_py()
            exact = ours.is_valid and theirs.is_valid
            if exact:
                value, wrong = _resemblance(ours, theirs), 0.0
            rows.append((pair.as_py(), value, wrong, exact, value >= threshold))
        yield pa.record_batch(
            [pa.array(column) for column in zip(*rows, strict=True)] if rows else [[]] * 5,
            ["pair", "resemblance", "error", "exact", "alike"],
        )


def _resemblance(ours: pa.BinaryScalar, theirs: pa.BinaryScalar) -> float:
    a, b = (memoryview(each.as_buffer()).cast("Q") for each in (ours, theirs))
    both = overlap(a, b)
    return both / max(len(a) + len(b) - both, 1)


def decided_pairs(judged: DataFrame, by_text: DataFrame) -> DataFrame:
    """Return all pairs, with the columns `exact` and `alike`."""
    clear = judged.where(F.col("verdict") != UNCERTAIN)
    alike: Column = F.col("verdict") == ALIKE
    return clear.select("pair", "resemblance", "error", F.lit(False).alias("exact"), alike.alias("alike")).unionByName(
        by_text
    )
