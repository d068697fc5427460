"""Changes a search so that it returns one hit per cluster."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER, Search
from opensearch_winnow.queries.dsl.ranked import CLUSTERS, PRECISION, UNCLUSTERED

# The name of the inner hits is this prefix and the field, so that the answer shows which field was collapsed.
INNER_HITS_PREFIX = "same "
COUNTS = "winnow_groups"  # name of an aggregation; CLUSTERS and UNCLUSTERED are below it

# Options of the body that are copied to the inner hits, so that members look like hits. Engines do not inherit them.
INNER_HITS_OPTIONS = (
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
# Options that engines refuse together with a collapse, or that would give wrong results.
REFUSED_OPTIONS = {
    "collapse": "it is collapsed already",
    "rescore": "engines do not rescore collapsed hits; remove it, or search without deduplicate_search_body and pass"
    " the hits to group_hits",
    "search_after": "engines page through collapsed hits by from and size; use these, for up to 10,000 hits",
    "pit": "engines look up the members of a group in the index as it is now, and not at a point in time; remove it,"
    " or search without deduplicate_search_body and pass the hits to group_hits",
    "slice": "other slices have copies of the same page; remove it",
}


def deduplicate_search_body(body: Mapping[str, Any], *, field: str = "cluster", members: int = 10) -> Search:
    """Return a copy of a search body that finds the best hit of each cluster, with `members` others as inner hits.

    The `field` is a keyword with doc values. `hits.total` still counts documents; the aggregation COUNTS estimates the
    number of clusters. The engine treats all documents without a cluster as one: `group_hits` separates them.
    """
    if not 1 <= members < MAX_HITS_PER_ANSWER:
        raise QuestionError(f"members must be from 1 to {MAX_HITS_PER_ANSWER - 1:,}, not {members}")
    for name, reason in REFUSED_OPTIONS.items():
        if name in body:
            raise QuestionError(f"a search with {name} cannot be collapsed: {reason}")
    if body.get("stored_fields") in ("_none_", ["_none_"]):
        raise QuestionError("a search without ids cannot be collapsed: remove stored_fields, _source=False is enough")
    search = deepcopy(dict(body))
    if "min_score" in search:  # engines look up members by the query alone, so it has to be inside
        query = search.get("query", {"match_all": {}})
        search["query"] = {"function_score": {"query": query, "min_score": search.pop("min_score")}}
    options = {name: deepcopy(search[name]) for name in INNER_HITS_OPTIONS if name in search}
    # One more than `members`, because the hit itself is among the inner hits.
    inner_hits = {**options, "name": f"{INNER_HITS_PREFIX}{field}", "size": members + 1}
    search["collapse"] = {"field": field, "inner_hits": inner_hits}
    key = "aggregations" if "aggregations" in search else "aggs"  # if a body has both, engines use only one
    search[key] = {**search.get(key, {}), COUNTS: _counts(field, search.get("post_filter"))}
    return search


def _counts(field: str, post_filter: Any) -> dict[str, Any]:
    """Return an aggregation over the documents of the hits. It repeats `post_filter`, which aggregations ignore."""
    return {
        "filter": deepcopy(post_filter) or {"match_all": {}},
        "aggs": {
            CLUSTERS: {"cardinality": {"field": field, "precision_threshold": PRECISION}},
            UNCLUSTERED: {"missing": {"field": field}},
        },
    }
