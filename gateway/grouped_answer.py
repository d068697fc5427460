"""Writes the answer to a grouped search in the engine's own form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from opensearch_winnow.gateway.attached_hits import AttachedHits
from opensearch_winnow.gateway.group_window import GroupWindow, Member
from opensearch_winnow.gateway.search_request import SearchRequest
from opensearch_winnow.queries.hit_documents import Hit

INNER_HITS = "winnow"  # the name of the members of a group


def grouped_answer(request: SearchRequest, examined: AttachedHits, window: GroupWindow, below: str) -> dict[str, Any]:
    """Return the answer to a search: that of the engine, with the hits of a page of groups."""
    complete = examined.exhausted and not examined.partial
    relation = "eq" if complete else "gte"

    def total(count: int) -> Any:
        return count if request.as_int else {"value": count, "relation": relation}

    def member_hit(member: Member) -> Hit:
        bare = examined.bare(member.place)
        resemblance, error = member.similarity
        ours = {"resemblance": resemblance, "kind": "estimate" if error else "exact", "error": error}
        return {**bare, "fields": bare.get("fields", {}) | {f"{below}.{name}": [ours[name]] for name in ours}}

    def inner_hits(members: Sequence[Member]) -> Any:
        listed = [member_hit(member) for member in members[: request.options.members]]
        scores = [hit["_score"] for hit in listed if hit["_score"] is not None]
        return {"hits": {"total": total(len(members)), "max_score": max(scores, default=None), "hits": listed}}

    hits = [
        {**hit, "inner_hits": _decoded(hit.get("inner_hits")) | {INNER_HITS: inner_hits(window.members[place])}}
        for place, hit in window.shown.items()
    ]
    about = {
        "groups": {"value": len(examined.representatives), "relation": relation},
        "examined": len(examined.hits),
        "without_fields": examined.without_fields,
        "stale": examined.stale,
        "folded": [
            {"hit": _name(examined.hits[each.representative]), "member": member_hit(each)} for each in window.folded
        ],
    }
    return with_ext(request, examined.top, about) | {
        "took": examined.took,
        "timed_out": examined.timed_out,
        "_shards": examined.shards,
        "hits": _total(request, examined.top) | {"max_score": examined.top["hits"].get("max_score"), "hits": hits},
    }


def with_ext(request: SearchRequest, answer: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer of the engine with what is known about the groups."""
    hits = _total(request, answer) | {name: value for name, value in answer["hits"].items() if name != "total"}
    return {**answer, "hits": hits, "ext": _decoded(answer.get("ext")) | {"winnow": about}}


def _total(request: SearchRequest, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the total as the client wants it, if the engine has counted."""
    total = answer["hits"].get("total")
    if request.as_int:
        return {"total": -1 if total is None else total["value"]}
    return {} if total is None else {"total": total}


def _name(hit: Hit) -> Hit:
    return {name: hit[name] for name in ("_index", "_id", "_routing") if name in hit}


def _decoded(part: Any) -> dict[str, Any]:
    return msgspec.json.decode(part, type=dict[str, msgspec.Raw]) if isinstance(part, msgspec.Raw) else {}
