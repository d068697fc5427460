"""Gives each cluster the representative that a rule chooses, instead of the page that the others have joined."""

from __future__ import annotations

from pyspark.sql import (
    DataFrame,
    functions as F,  # noqa: N812
)

from opensearch_winnow.clusters.spark.outputs import Scratch
from opensearch_winnow.clusters.spark.verdicts import judged_pairs
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.searching.representative_rule import RepresentativeRule


def with_chosen_representatives(
    members: DataFrame,
    edges: DataFrame,
    signed: DataFrame,
    rule: RepresentativeRule,
    *,
    threshold: float,
    scheme: Scheme,
    scratch: Scratch,
) -> DataFrame:
    """Return `members` with the representative that `rule` chooses for each cluster, and their resemblance to it."""
    turn = f"row_number() OVER (PARTITION BY representative ORDER BY {rule.order_by})"
    voted = members
    if rule.has_votes:
        votes = members.groupBy("representative", F.col("canonical").alias("url")).agg(F.count("*").alias("votes"))
        voted = members.join(votes, ["representative", "url"], "left")
    chosen = (
        voted.withColumn("turn", F.expr(turn))
        .where("turn = 1")
        .select("representative", F.col("number").alias("other"), F.col("content").alias("other_content"))
    )
    earlier, later = (each("content", "other_content").cast("long") for each in (F.least, F.greatest))
    pair = F.when(F.col("content") != F.col("other_content"), F.shiftleft(earlier, 32).bitwiseOR(later))
    paired = scratch.keep(
        "chosen",
        members.drop("resemblance", "error")
        .join(chosen, "representative")
        .withColumn("pair", pair)
        .drop("representative", "other_content")
        .withColumnRenamed("other", "representative"),
    )
    wanted = paired.where("pair IS NOT NULL").select("pair").distinct()
    known = wanted.join(edges.select("pair", "resemblance", "error"), "pair", "left")
    # A content without an edge to its representative gets the estimate of its MinHash.
    estimates = judged_pairs(known.where("resemblance IS NULL"), signed, threshold, scheme).drop("verdict")
    scores = known.where("resemblance IS NOT NULL").unionByName(estimates)
    exact = {"resemblance": F.coalesce("resemblance", F.lit(1.0)), "error": F.coalesce("error", F.lit(0.0))}
    return paired.join(scores, "pair", "left").withColumns(exact).drop("pair")
