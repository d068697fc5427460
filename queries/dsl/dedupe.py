"""A search of your own, with one hit for each cluster."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.dsl.pages import AT_ONCE, Search
from opensearch_winnow.queries.dsl.ranked import CLUSTERS, PRECISION, UNCLUSTERED

SAME = "same "  # the name of the inner hits is this and the field, so that the answer tells what it was collapsed by
COUNTS = "winnow_groups"  # an aggregation; below it are CLUSTERS and UNCLUSTERED

# Where a member is to look as a hit does. The engine takes these from inner hits, and not from the body.
LOOKS = (
    "_source",
    "docvalue_fields",
    "explain",
    "fields",
    "highlight",
    "script_fields",
    "seq_no_primary_term",
    "sort",
    "stored_fields",
    "track_scores",
    "version",
)
# What engines refuse beside a collapse, or answer without regard to it.
REFUSED = {
    "collapse": "it has one already",
    "rescore": "engines do not rescore collapsed hits; take it out, or ask for hits as they are and give them to"
    " group_hits",
    "search_after": "engines page collapsed hits by from and size; take these, up to 10,000 hits",
    "pit": "engines look up the members of a group in the index as it is now, and not at a point in time; take it out,"
    " or ask for hits as they are and give them to group_hits",
    "slice": "the copies of a page are in other slices too; take it out",
}


def dedupe(body: Mapping[str, Any], *, field: str = "cluster", members: int = 10) -> Search:
    """A copy of the body of a search that finds the best hit of each cluster, with so many others as inner hits.

    The `field` is a keyword with doc values. `hits.total` still counts documents; the aggregation COUNTS counts the
    clusters, about. Documents without one are a single hit to the engine: `group_hits` takes them apart.
    """
    if not 1 <= members < AT_ONCE:
        raise QuestionError(f"a hit is shown with 1 to {AT_ONCE - 1:,} members of its group, not {members}")
    for name, reason in REFUSED.items():
        if name in body:
            raise QuestionError(f"a search with {name} cannot be collapsed: {reason}")
    if body.get("stored_fields") in ("_none_", ["_none_"]):
        raise QuestionError("a search without ids cannot be collapsed: take out stored_fields, _source=False is enough")
    search = deepcopy(dict(body))
    if "min_score" in search:  # members are looked up by the query, and nothing beside it
        query = search.get("query", {"match_all": {}})
        search["query"] = {"function_score": {"query": query, "min_score": search.pop("min_score")}}
    looks = {name: deepcopy(search[name]) for name in LOOKS if name in search}
    # The hit itself is among the inner hits.
    search["collapse"] = {"field": field, "inner_hits": {**looks, "name": f"{SAME}{field}", "size": members + 1}}
    own = "aggregations" if "aggregations" in search else "aggs"  # of both, engines take one
    search[own] = {**search.get(own, {}), COUNTS: _counts(field, search.get("post_filter"))}
    return search


def _counts(field: str, post_filter: Any) -> dict[str, Any]:
    """Of the same documents as the hits: a `post_filter` does not hold for aggregations by itself."""
    return {
        "filter": deepcopy(post_filter) or {"match_all": {}},
        "aggs": {
            CLUSTERS: {"cardinality": {"field": field, "precision_threshold": PRECISION}},
            UNCLUSTERED: {"missing": {"field": field}},
        },
    }
