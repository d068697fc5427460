"""Makes the tables that a clustering writes, and counts their rows."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import (
    Column,
    DataFrame,
    functions as F,  # noqa: N812
)
from pyspark.sql.pandas.types import from_arrow_type

from opensearch_winnow.clusters.result import HISTOGRAM_BARS, LargestCluster
from opensearch_winnow.clusters.spark.verdicts import both_sides

LARGEST_LISTED = 10  # clusters in the result
DIGESTS = ("content_digest", "text_digest")
EMPTY_VALUES = {pa.string(): "", pa.float64(): 0.0}


def members(pages: DataFrame, joined: DataFrame) -> DataFrame:
    """Return each capture with the number of its representative, and its resemblance to it."""
    alone = {"representative": F.coalesce("representative", "content")}
    exact = {"resemblance": F.coalesce("resemblance", F.lit(1.0)), "error": F.coalesce("error", F.lit(0.0))}
    return pages.join(joined, "content", "left").withColumns(alone | exact)


def clustered_pages(pages: DataFrame, members: DataFrame) -> DataFrame:
    """Return each capture with its representative: the columns of CLUSTERS, and more columns for other tables."""
    names = pages.select(
        F.col("number").alias("representative"), F.col("id").alias("new"), F.col("url").alias("representative_url")
    )
    return members.join(names, "representative").select(
        "url",
        "fetched_at",
        F.col("id").alias("capture"),
        F.col("new").alias("cluster"),
        F.col("representative_url").alias("representative"),
        "resemblance",
        "error",
        F.col("cluster").alias("before"),
        "content",
        "title",
    )


def evidence(pages: DataFrame, edges: DataFrame, scheme: str) -> DataFrame:
    """Return all edges: between pages of one content, and between contents that are alike."""
    sides = pages.select("number", "id", "url")
    first = pages.select(F.col("number").alias("content"), *_prefixed("first_", "id", "url", *DIGESTS))
    equal = pages.where("number != content").join(first, "content")
    rule = (
        F.when((F.col("content_digest") != "") & (F.col("content_digest") == F.col("first_content_digest")), "content")
        .when((F.col("text_digest") != "") & (F.col("text_digest") == F.col("first_text_digest")), "text")
        .otherwise("shingles")
    )
    same = equal.select(
        F.col("first_url").alias("url"),
        F.col("url").alias("other_url"),
        F.col("first_id").alias("capture"),
        F.col("id").alias("other_capture"),
        F.lit(1.0).alias("resemblance"),
        F.lit(0.0).alias("error"),
        rule.alias("rule"),
    )
    alike = both_sides(edges.select("pair", "resemblance", "error", "exact"), sides).select(
        "url",
        "other_url",
        F.col("id").alias("capture"),
        F.col("other_id").alias("other_capture"),
        "resemblance",
        "error",
        F.when(F.col("exact"), "exact").otherwise("estimate").alias("rule"),
    )
    return same.unionByName(alike).withColumn("scheme", F.lit(scheme))


def _prefixed(prefix: str, *names: str) -> list[Column]:
    return [F.col(name).alias(prefix + name) for name in names]


def cast_to_schema(rows: DataFrame, schema: pa.Schema) -> DataFrame:
    """Return the rows with the columns, types and order of `schema`, and nulls only where it allows them."""
    columns = []
    for field in schema:
        column = F.col(field.name).cast(from_arrow_type(field.type))
        # These columns have no nulls, but Spark takes every column read from Parquet as nullable.
        columns.append(
            (column if field.nullable else F.coalesce(column, F.lit(EMPTY_VALUES[field.type]))).alias(field.name)
        )
    return rows.select(*columns)


def histogram(decided: DataFrame) -> tuple[list[int], int, int]:
    """Return the histogram of the pairs' resemblances, the number of exact pairs, and the number of edges."""
    bar = F.least(F.floor(F.col("resemblance") * HISTOGRAM_BARS), F.lit(HISTOGRAM_BARS - 1))
    counted = decided.groupBy(bar.alias("bar")).agg(
        F.count("*"), F.sum(F.col("exact").cast("long")), F.sum(F.col("alike").cast("long"))
    )
    bars, exact, alike = [0] * HISTOGRAM_BARS, 0, 0
    for row in counted.collect():
        bars[int(row[0])] = row[1]
        exact += row[2]
        alike += row[3]
    return bars, exact, alike


def count_by_size(clusters: DataFrame) -> list[tuple[int, bool, int]]:
    """Return the clusters by size, as (pages, True if all of them have one content, number of such clusters)."""
    rows = clusters.groupBy("pages", "identical").count().collect()
    return [(row[0], row[1], row[2]) for row in rows]


def by_cluster(clustered: DataFrame) -> DataFrame:
    """Return a row for each cluster of two pages or more."""
    return (
        clustered.groupBy("cluster")
        .agg(F.count("*").alias("pages"), (F.min("content") == F.max("content")).alias("identical"))
        .where("pages > 1")
    )


def largest_clusters(clusters: DataFrame, clustered: DataFrame) -> list[LargestCluster]:
    top = clusters.orderBy(F.desc("pages"), "cluster").limit(LARGEST_LISTED)
    representatives = clustered.where("capture = cluster").select("cluster", "url", "title")
    rows = top.join(representatives, "cluster").collect()
    largest = [LargestCluster(row["pages"], row["cluster"], row["url"], row["title"]) for row in rows]
    return sorted(largest, key=lambda each: (-each.pages, each.cluster))


def count_pages(pages: DataFrame) -> tuple[int, int]:
    """Return the number of pages and the number of contents."""
    row = pages.agg(F.count("*"), F.count_if(F.col("number") == F.col("content"))).collect()[0]
    return row[0], row[1]
