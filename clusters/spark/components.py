"""Connected components in rounds that stay distributed.

Each round is a large star and a small star, as Kiveris and others describe them ("Connected Components in MapReduce and
Beyond"): every page is tied to the smallest page it knows of, in turns for its larger and its smaller neighbours. The
number of rounds grows with the logarithm of the pages and not with the length of a chain.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from opensearch_winnow.clusters.asked import ClusterError
from opensearch_winnow.clusters.spark.scratch import Scratch

ROUNDS = 100  # far more than any number of pages takes


def components(edges: DataFrame, scratch: Scratch) -> DataFrame:
    """For each page of an edge (`number`) the smallest that it hangs together with (`component`).

    The edges are `smaller` and `larger`, two numbers.
    """
    ties = scratch.keep("ties-0", edges.select("larger", "smaller").distinct())
    for turn in range(ROUNDS):
        if _are_stars(ties):
            pages = ties.select(F.col("larger").alias("number"), F.col("smaller").alias("component"))
            roots = ties.select(F.col("smaller").alias("number"), F.col("smaller").alias("component"))
            return pages.union(roots.distinct())
        ties = scratch.keep(f"ties-{turn + 1}", _small_star(_large_star(ties)))
        scratch.drop(f"ties-{turn}")
    raise ClusterError(f"components were not found in {ROUNDS} rounds; please report this")


def _are_stars(ties: DataFrame) -> bool:
    """Whether each page is tied to one smaller page, and that one to none: then it is the smallest of all."""
    up = ties.select(F.col("larger").alias("page"), F.lit(1).alias("up"), F.lit(0).alias("down"))
    down = ties.select(F.col("smaller").alias("page"), F.lit(0).alias("up"), F.lit(1).alias("down"))
    ends = up.union(down).groupBy("page").agg(F.sum("up").alias("up"), F.sum("down").alias("down"))
    return ends.where("up > 1 OR (up = 1 AND down > 0)").isEmpty()


def _large_star(ties: DataFrame) -> DataFrame:
    """Tie the larger neighbours of each page to the smallest of all its neighbours and itself."""
    turned = ties.select(F.col("smaller").alias("page"), F.col("larger").alias("other"))
    both = ties.select(F.col("larger").alias("page"), F.col("smaller").alias("other")).union(turned)
    least = F.least("page", F.min("other").over(Window.partitionBy("page")))
    return (
        both.withColumn("least", least)
        .where("other > page")
        .select(F.col("other").alias("larger"), F.col("least").alias("smaller"))
        .distinct()
    )


def _small_star(ties: DataFrame) -> DataFrame:
    """Tie the smaller neighbours of each page, and itself, to the smallest of them."""
    least = ties.withColumn("least", F.min("smaller").over(Window.partitionBy("larger")))
    others = least.where("smaller > least").select(F.col("smaller").alias("larger"), F.col("least").alias("smaller"))
    itself = least.select("larger", F.col("least").alias("smaller"))
    return others.union(itself).distinct()
