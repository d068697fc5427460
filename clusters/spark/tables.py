"""The tables that a clustering leaves, and what there is to say about them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_type

from opensearch_winnow.clusters.found import BARS, Largest
from opensearch_winnow.clusters.spark.verdicts import both_sides

MOST_SHOWN = 10  # of the largest clusters
DIGESTS = ("content_digest", "text_digest")
ZEROS = {pa.string(): "", pa.float64(): 0.0}


def clustered_pages(pages: DataFrame, joined: DataFrame) -> DataFrame:
    """Each capture with its representative: a row for CLUSTERS, and what the others are made of."""
    alone = {"representative": F.coalesce("representative", "content")}
    exact = {"resemblance": F.coalesce("resemblance", F.lit(1.0)), "error": F.coalesce("error", F.lit(0.0))}
    members = pages.join(joined, "content", "left").withColumns(alone | exact)
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
    """Every edge: of pages with one content, and of contents that are alike."""
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


def as_table(rows: DataFrame, schema: pa.Schema) -> DataFrame:
    """With the columns, types and order of the schema, and nulls only where it has them."""
    columns = []
    for field in schema:
        column = F.col(field.name).cast(from_arrow_type(field.type))
        # Nothing is null there; but what was read from Parquet might be, for all that Spark knows.
        columns.append((column if field.nullable else F.coalesce(column, F.lit(ZEROS[field.type]))).alias(field.name))
    return rows.select(*columns)


def histogram(decided: DataFrame) -> tuple[list[int], int, int]:
    """The bars of the pairs' resemblances; how many of them are exact; how many are edges."""
    bar = F.least(F.floor(F.col("resemblance") * BARS), F.lit(BARS - 1))
    counted = decided.groupBy(bar.alias("bar")).agg(
        F.count("*"), F.sum(F.col("exact").cast("long")), F.sum(F.col("alike").cast("long"))
    )
    bars, exact, alike = [0] * BARS, 0, 0
    for row in counted.collect():
        bars[int(row[0])] = row[1]
        exact += row[2]
        alike += row[3]
    return bars, exact, alike


def sizes(clusters: DataFrame) -> list[tuple[int, bool, int]]:
    """Of clusters that have so many pages, and all of one content or not, how many there are."""
    rows = clusters.groupBy("pages", "identical").count().collect()
    return [(row[0], row[1], row[2]) for row in rows]


def by_cluster(clustered: DataFrame) -> DataFrame:
    """A row for each cluster of two pages or more."""
    return (
        clustered.groupBy("cluster")
        .agg(F.count("*").alias("pages"), (F.min("content") == F.max("content")).alias("identical"))
        .where("pages > 1")
    )


def largest(clusters: DataFrame, clustered: DataFrame) -> list[Largest]:
    top = clusters.orderBy(F.desc("pages"), "cluster").limit(MOST_SHOWN)
    own = clustered.where("capture = cluster").select("cluster", "url", "title")
    rows = top.join(own, "cluster").collect()
    found = [Largest(row["pages"], row["cluster"], row["url"], row["title"]) for row in rows]
    return sorted(found, key=lambda each: (-each.pages, each.cluster))


def totals(pages: DataFrame) -> tuple[int, int]:
    """How many pages there are, and how many contents."""
    row = pages.agg(F.count("*"), F.count_if(F.col("number") == F.col("content"))).collect()[0]
    return row[0], row[1]
