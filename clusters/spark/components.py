"""Finds connected components in rounds that stay distributed.

Each round is a large star and a small star operation, as in Kiveris et al., "Connected Components in MapReduce and
Beyond" (2014): every page is linked to the smallest page it knows of, alternately for its larger and its smaller
neighbours. The number of rounds grows with the logarithm of the pages, not with the length of a chain.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from opensearch_winnow.clusters.options import ClusterError
from opensearch_winnow.clusters.spark.outputs import Scratch

MAX_ROUNDS = 100  # far more than any number of pages needs


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
