"""Reads record files on Spark: keeps the last row of each capture, orders and numbers pages, finds equal contents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
from pyspark.sql import (
    Column,
    DataFrame,
    Row,
    SparkSession,
    Window,
    functions as F,  # noqa: N812 (the usual name in Spark code)
)
from pyspark.sql.pandas.types import from_arrow_schema

from opensearch_winnow.clusters.options import ClusterError
from opensearch_winnow.clusters.spark.hadoop_files import HadoopFile, HadoopFiles, escape_pattern
from opensearch_winnow.clusters.spark.outputs import Scratch
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.written_time import EPOCH, MICROSECOND
from opensearch_winnow.mappings.record_columns import SCHEMA
from opensearch_winnow.mappings.repeated_pages import RepeatableCapture, RepeatedPages, known_payload
from opensearch_winnow.mappings.written_scheme import WrittenScheme, other_scheme
from opensearch_winnow.queries.estimates import MIN_SHINGLES
from opensearch_winnow.record_files.filled_revisits import DECIDING_COLUMNS, FILLED_COLUMNS
from opensearch_winnow.record_files.reader import part_number, scheme_of_file

MAX_CAPTURES = 2**31 - 1  # page numbers are Spark's signed 32-bit integers
ROW_BITS = 40  # lower bits of a row number: the row in its file; upper bits: the number of the file
PARTITION_BITS = 33  # lower bits of monotonically_increasing_id: the row in its partition
FOOTER_THREADS = 16  # reading footers of remote files is mostly waiting
STARTS = pa.schema([("partition", pa.int64()), ("start", pa.int64())])
COLUMNS = [
    "id",
    "url",
    "site",
    "title",
    "fetched_at",
    "content_digest",
    "text_digest",
    "shingle_digest",
    "shingle_count",
    "cluster",
    "canonical",
]


def record_files(files: HadoopFiles, paths: Sequence[str]) -> list[HadoopFile]:
    """Return the record files at `paths`, at least one, in order: a capture in a later file replaces an earlier one."""
    record_files = []
    for path in paths:
        listed = files.list_files(path)
        if listed is None:
            raise FileError(f"there is no record file {path}")
        if files.is_folder(path):
            parquet = [
                file for file in listed if file.name.endswith(".parquet") and not file.name.startswith((".", "_"))
            ]
            if not parquet:
                raise FileError(
                    f"{path} has no record files: a folder of records has files named part-00000.parquet and so on"
                )
            listed = sorted(parquet, key=lambda file: (part_number(Path(file.name)), file.name))
        record_files += listed
    if not record_files:
        raise ClusterError("there are no record files to cluster: name at least one")
    return record_files


def common_scheme(files: HadoopFiles, record_files: Sequence[HadoopFile]) -> WrittenScheme:
    """Return the scheme of all files, from their footers. Raise an error if there are two."""
    with ThreadPoolExecutor(FOOTER_THREADS) as pool:
        first, *others = pool.map(lambda file: scheme_of_file(file.local_name, files.footer(file)), record_files)
    for file, other in zip(record_files[1:], others, strict=True):
        if other.id != first.id:
            raise other_scheme(file.local_name, other, first)
    return first


def read_records(session: SparkSession, record_files: Sequence[HadoopFile]) -> DataFrame:
    """Return the rows of all files with the column `row`, a number that grows with the file and the row in it."""
    read = session.read.schema(from_arrow_schema(SCHEMA)).option("parquet.page.verify-checksum.enabled", "true")
    rows = read.parquet(*(escape_pattern(file.path) for file in record_files))
    uris = [_metadata_uri(session, file.path) for file in record_files]
    numbers = session.createDataFrame(pa.table({"file": uris, "file_number": range(len(record_files))}))
    file = F.regexp_replace(F.col("_metadata.file_path"), "^file:/+", "file:/")
    return (
        rows.select("*", file.alias("file"), F.col("_metadata.row_index").alias("row_index"))
        .join(F.broadcast(numbers), "file")
        .withColumn("row", F.shiftleft("file_number", ROW_BITS) + F.col("row_index"))
        .drop("file", "file_number", "row_index")
    )


def numbered_pages(records: DataFrame, scratch: Scratch) -> DataFrame:
    """Return the last row of each capture, with its `number` in the order of pages and that of its `content`."""
    turn = F.row_number().over(Window.partitionBy("id").orderBy(F.desc("row")))
    in_order = (
        records.select("row", *COLUMNS, turn.alias("turn"))
        .where("turn = 1")
        .drop("turn")
        .orderBy(F.col("fetched_at").asc_nulls_last(), F.length("url"), "url", "id")
        .withColumn("position", F.monotonically_increasing_id())
    )
    # Written to disk because sorting again could partition the rows differently.
    numbers = _number_rows(scratch.keep("in-order", in_order.withColumn("key", _content_key())))
    first = numbers.groupBy("key").agg(F.min("number").alias("content"))
    pages = scratch.keep("pages", numbers.join(first, "key").drop("key", "shingle_digest"))
    scratch.drop("in-order")
    return pages


def _number_rows(rows: DataFrame) -> DataFrame:
    """Turn `position` into `number`, which has no gaps. This only needs the row count of each partition."""
    partition = F.shiftright("position", PARTITION_BITS)
    counts = sorted((row[0], row[1]) for row in rows.groupBy(partition).count().collect())
    ends = list(accumulate((count for _, count in counts), initial=0))
    if ends[-1] > MAX_CAPTURES:
        raise ClusterError(f"{ends[-1]:,} captures are too many: cluster at most {MAX_CAPTURES:,} at a time")
    starts = rows.sparkSession.createDataFrame(
        pa.table({"partition": pa.array([number for number, _ in counts], pa.int64()), "start": ends[:-1]}, STARTS)
    )
    row_in_partition = F.col("position").bitwiseAND(2**PARTITION_BITS - 1)
    return (
        rows.withColumn("partition", partition)
        .join(F.broadcast(starts), "partition")
        .withColumn("number", (row_in_partition + F.col("start")).cast("int"))
        .drop("partition", "start", "position")
    )


def _content_key() -> Column:
    """Return a key that is equal for pages of one content. Its first letter keeps the four kinds apart."""
    return (
        F.when(F.col("shingle_count") >= MIN_SHINGLES, F.concat(F.lit("s"), "shingle_digest"))
        .when(
            F.expr("shingle_count > 0 AND (title <> '' OR content_digest <> '')"),
            F.concat(F.lit("t"), "shingle_digest", F.coalesce("title", F.lit(""))),
        )
        .when(F.col("content_digest") != "", F.concat(F.lit("c"), "content_digest"))
        .otherwise(F.concat(F.lit("i"), "id"))
    )


def _metadata_uri(session: SparkSession, path: str) -> str:
    """Return the path as Spark's metadata columns spell it."""
    uri = str(session.sparkContext._jvm.org.apache.hadoop.fs.Path(path).toUri().toString())  # type: ignore[union-attr]
    return re.sub("^file:/+", "file:/", uri)


def with_texts_of_revisits(rows: DataFrame) -> DataFrame:
    """Return the rows of `read_records` with texts for revisits, as `FilledRevisits` gives them.

    The capture that a revisit repeats is chosen here, by the metadata of the few candidates.
    """
    without_text = (F.col("duplicate") == "revisit") & (F.col("text_digest") == "")
    if rows.where(without_text).isEmpty():
        return rows
    turn = F.row_number().over(Window.partitionBy("id").orderBy(F.desc("row")))
    deciding = [name for name in DECIDING_COLUMNS if name != "fetched_at"]
    times = F.unix_micros("fetched_at").alias("time")
    last = rows.select("row", times, *deciding, turn.alias("turn")).where("turn = 1").drop("turn")
    waiting = [_capture_of(row) for row in last.where(without_text).toLocalIterator()]
    keys = sorted({key for each in waiting for key in (each.payload, each.repeats) if key})
    wanted = F.broadcast(rows.sparkSession.createDataFrame(pa.table({"key": keys})))
    concerned = {
        row["row"]: _capture_of(row)
        for name in ("payload_digest", "url")
        for row in last.join(wanted, F.col(name) == F.col("key"), "leftsemi").toLocalIterator()
    }
    row_of = {each.id: row for row, each in concerned.items()}
    row_of |= {row["id"]: row["row"] for row in last.where(without_text).select("id", "row").toLocalIterator()}
    originals = RepeatedPages([*waiting, *concerned.values()]).originals((), waiting)
    if not originals:
        return rows
    columns = {"revisit": [row_of[id_] for id_ in originals], "original": [row_of[id_] for id_ in originals.values()]}
    pairs = F.broadcast(rows.sparkSession.createDataFrame(pa.table(columns)))
    filled = [name for name in rows.columns if name in FILLED_COLUMNS]
    texts = rows.select(F.col("row").alias("original"), *filled).join(pairs, "original").drop("original")
    revisits = rows.drop(*filled).join(texts, F.col("row") == F.col("revisit")).select(rows.columns)
    return rows.join(pairs, F.col("row") == F.col("revisit"), "leftanti").unionByName(revisits)


def _capture_of(row: Row) -> RepeatableCapture:
    time = None if row["time"] is None else EPOCH + row["time"] * MICROSECOND
    text = row["text_digest"], row["title"], row["canonical"]
    repeats = (row["duplicate_of"] or row["url"]) if row["duplicate"] == "revisit" else None
    return RepeatableCapture(row["id"], row["url"], time, known_payload(row["payload_digest"]), text, repeats)
