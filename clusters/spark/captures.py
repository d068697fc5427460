"""Record files on Spark: which rows count, in which order their pages are, and which have one content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 (as all that use Spark call it)
from pyspark.sql.pandas.types import from_arrow_schema

from opensearch_winnow.clusters.asked import ClusterError
from opensearch_winnow.clusters.spark.hadoop_files import HadoopFile, HadoopFiles, escaped
from opensearch_winnow.clusters.spark.scratch import Scratch
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.mappings.record_columns import SCHEMA
from opensearch_winnow.mappings.written_scheme import WrittenScheme, other_scheme
from opensearch_winnow.record_files.reader import part_number, scheme_of_file

MOST = 2**31 - 1  # captures: their numbers are integers of 32 bits, and Spark's have a sign
ROW_BITS = 40  # of a row's number those within its file; above them is the place of the file
PARTITION_BITS = 33  # the same of monotonically_increasing_id
AT_ONCE = 16  # footers: of remote files most of the time is waiting
COLUMNS = [
    "id",
    "url",
    "title",
    "fetched_at",
    "content_digest",
    "text_digest",
    "shingle_digest",
    "shingle_count",
    "cluster",
]


def record_files(files: HadoopFiles, paths: Sequence[str]) -> list[HadoopFile]:
    """The files of all paths, the later ones right where both have a capture. There is at least one."""
    found = []
    for path in paths:
        listed = files.listed(path)
        if listed is None:
            raise RecordsError(f"there is no record file {path}")
        shown = [file for file in listed if file.name.endswith(".parquet") and not file.name.startswith((".", "_"))]
        if files.is_folder(path):
            if not shown:
                raise RecordsError(
                    f"{path} has no record files: a folder of records has files part-00000.parquet and on"
                )
            listed = sorted(shown, key=lambda file: (part_number(Path(file.name)), file.name))
        found += listed
    if not found:
        raise ClusterError("no record files are named")
    return found


def scheme_of(files: HadoopFiles, found: Sequence[HadoopFile]) -> WrittenScheme:
    """That of all files, from their footers."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        first, *others = pool.map(lambda file: scheme_of_file(file.shown, files.footer(file)), found)
    for file, other in zip(found[1:], others, strict=True):
        if other.id != first.id:
            raise other_scheme(file.shown, other.id, first.id)
    return first


def records_of(session: SparkSession, found: Sequence[HadoopFile]) -> DataFrame:
    """All rows, each with the number `row`: of a later row it is larger."""
    read = session.read.schema(from_arrow_schema(SCHEMA)).option("parquet.page.verify-checksum.enabled", "true")
    rows = read.parquet(*(escaped(file.path) for file in found))
    places = session.createDataFrame(
        pa.table({"file": [_encoded(session, file.path) for file in found], "place": range(len(found))})
    )
    file = F.regexp_replace(F.col("_metadata.file_path"), "^file:/+", "file:/")
    return (
        rows.select("*", file.alias("file"), F.col("_metadata.row_index").alias("row_index"))
        .join(F.broadcast(places), "file")
        .withColumn("row", F.shiftleft("place", ROW_BITS) + F.col("row_index"))
        .drop("file", "place", "row_index")
    )


def numbered_pages(records: DataFrame, scratch: Scratch) -> DataFrame:
    """The captures that count, each with its number and that of the first page of its content."""
    turn = F.row_number().over(Window.partitionBy("id").orderBy(F.desc("row")))
    in_order = (
        records.select("row", *COLUMNS, turn.alias("turn"))
        .where("turn = 1")
        .drop("turn")
        .orderBy(F.col("fetched_at").asc_nulls_last(), F.length("url"), "url", "id")
        .withColumn("place", F.monotonically_increasing_id())
    )
    # Kept, for a second sort may cut the rows into other partitions.
    numbers = _from_zero(scratch.keep("in-order", in_order.withColumn("key", _key())))
    first = numbers.groupBy("key").agg(F.min("number").alias("content"))
    pages = scratch.keep("pages", numbers.join(first, "key").drop("key", "shingle_digest"))
    scratch.drop("in-order")
    return pages


def _from_zero(rows: DataFrame) -> DataFrame:
    """`place` as a number without gaps: partitions have to be counted for that, and nothing more."""
    partition = F.shiftright("place", PARTITION_BITS)
    counts = sorted((row[0], row[1]) for row in rows.groupBy(partition).count().collect())
    ends = list(accumulate((count for _, count in counts), initial=0))
    if ends[-1] > MOST:
        raise ClusterError(f"{ends[-1]:,} captures are more than can be numbered, {MOST:,}: cluster them in parts")
    starts = rows.sparkSession.createDataFrame(
        pa.table({"partition": pa.array([number for number, _ in counts], pa.int64()), "start": ends[:-1]}, STARTS)
    )
    within = F.col("place").bitwiseAND(2**PARTITION_BITS - 1)
    return (
        rows.withColumn("partition", partition)
        .join(F.broadcast(starts), "partition")
        .withColumn("number", (within + F.col("start")).cast("int"))
        .drop("partition", "start", "place")
    )


STARTS = pa.schema([("partition", pa.int64()), ("start", pa.int64())])


def _key() -> Column:
    """Equal for pages of one content. The letters keep keys of two kinds apart."""
    return (
        F.when(F.col("shingle_count") > 0, F.concat(F.lit("s"), "shingle_digest"))
        .when(F.col("content_digest") != "", F.concat(F.lit("c"), "content_digest"))
        .otherwise(F.concat(F.lit("i"), "id"))
    )


def _encoded(session: SparkSession, path: str) -> str:
    """As Spark's metadata columns have it."""
    uri = str(session.sparkContext._jvm.org.apache.hadoop.fs.Path(path).toUri().toString())  # type: ignore[union-attr]
    return re.sub("^file:/+", "file:/", uri)
