"""Builds queries that estimate resemblance and containment, and computes the same from an engine's counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil
from typing import Any, Literal, NamedTuple

from opensearch_winnow.mappings.opensearch_scripts import CONTAINED, CONTAINMENT, RESEMBLANCE, SOURCES
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.overlap import distinct_tokens, overlap

Score = Literal["resemblance", "containment", "contained"]

SCRIPTS: dict[Score, str] = {"resemblance": RESEMBLANCE, "containment": CONTAINMENT, "contained": CONTAINED}
ROUNDING = 1e-9  # far below the difference of any two shares, and far above the rounding error of a product


class Shares(NamedTuple):
    """The estimated scores of a page."""

    resemblance: float
    containment: float  # of the question in the page
    contained: float  # of the page in the question


def scored(
    score: Score,
    tokens: str | Collection[str],
    *,
    least: float = 0.0,
    field: str = "sketch",
    filters: Sequence[Clause] = (),
    stored: bool = True,
) -> Clause:
    """Return a query for the pages whose score, estimated from sketches, is at least `least`. It becomes `_score`.

    `tokens` is the sketch of the question, with at most overlap.MAX_TOKENS_PER_QUERY tokens. The engine computes the
    score by the script that `winnow setup` stores or, without `stored`, by one in the query. If the engine refuses
    scripts (`search.allow_expensive_queries`, `script.allowed_types`), search for the `overlap` with `least_shared` as
    its minimum, read `sketch_count` of the hits, and compute their `shares`.
    """
    id_, sketch = SCRIPTS[score], distinct_tokens(tokens)
    script: dict[str, Any] = {"id": id_} if stored else {"source": SOURCES[id_], "lang": "painless"}
    script["params"] = {"count": len(sketch), "field": f"{field}_count"}
    query = overlap(field, sketch, minimum=least_shared(score, least, len(sketch)), filters=filters)
    script_score: dict[str, Any] = {"query": query, "script": script}
    return {"script_score": script_score | ({"min_score": least} if least > 0 else {})}


def least_shared(score: Score, least: float, count: int) -> int:
    """Return the number of the question's `count` tokens that a page must share for a score of at least `least`."""
    # Resemblance is never higher than containment, so both have the same bound. The question's size gives no bound
    # for the share of a page that is in it.
    return max(ceil(least * count - ROUNDING), 1) if score != "contained" else 1


def shares(shared: float, count: int, page_count: int) -> Shares:
    """Return the scores of a page that has `page_count` sketch tokens (its `sketch_count`).

    `shared` of them are among the question's `count` sketch tokens.
    """
    union = count + page_count - shared
    return Shares(_share(shared, union), _share(shared, count), _share(shared, page_count))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
