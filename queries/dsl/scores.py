"""Estimates of resemblance and containment by the engine, or from what it has counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil
from typing import Any, Literal, NamedTuple

from opensearch_winnow.mappings.opensearch_scripts import CONTAINED, CONTAINMENT, RESEMBLANCE, SOURCES
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.overlap import different, overlap

Score = Literal["resemblance", "containment", "contained"]

SCRIPTS: dict[Score, str] = {"resemblance": RESEMBLANCE, "containment": CONTAINMENT, "contained": CONTAINED}
ROUNDING = 1e-9  # far below any difference of two shares, and far above what multiplying them may add


class Shares(NamedTuple):
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
    """A query for the pages whose score, estimated from the sketch, is at least this: it is their `_score`.

    The tokens are the sketch of the question, at most overlap.MAX_TOKENS_PER_QUERY. The engine computes it by the script that
    `winnow setup` stores, or by one in the query. Where scripts are refused (`search.allow_expensive_queries`,
    `script.allowed_types`), ask for the `overlap` with `least_shared` as its minimum, read `sketch_count` of the hits,
    and take their `shares`.
    """
    id_, sketch = SCRIPTS[score], different(tokens)
    script: dict[str, Any] = {"id": id_} if stored else {"source": SOURCES[id_], "lang": "painless"}
    script["params"] = {"count": len(sketch), "field": f"{field}_count"}
    found = overlap(field, sketch, minimum=least_shared(score, least, len(sketch)), filters=filters)
    asked: dict[str, Any] = {"query": found, "script": script}
    return {"script_score": asked | ({"min_score": least} if least > 0 else {})}


def least_shared(score: Score, least: float, count: int) -> int:
    """How many of the `count` tokens of a question a page shares at least, if its score is at least so high."""
    # Resemblance is never more than containment. Of how much is contained in the question, its size tells nothing.
    return max(ceil(least * count - ROUNDING), 1) if score != "contained" else 1


def shares(shared: float, count: int, page_count: int) -> Shares:
    """The estimates for a page with `page_count` sketch tokens (its `sketch_count`), some shared with a question's."""
    either = count + page_count - shared
    return Shares(_share(shared, either), _share(shared, count), _share(shared, page_count))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
