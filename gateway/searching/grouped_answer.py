"""Writes the answer to a grouped search in the engine's own form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from opensearch_winnow.gateway.searching.attached_hits import AttachedHits
from opensearch_winnow.gateway.searching.client_search import ClientSearch
from opensearch_winnow.queries.searching.grouping import GroupCount
from opensearch_winnow.queries.searching.hit_documents import Hit
from opensearch_winnow.queries.searching.hit_groups import FoldedHit, HitGroup, HitMember

INNER_HITS = "winnow"  # the name of the members of a group


class GroupPage(NamedTuple):
    """One page of the groups of a search."""

    groups: list[HitGroup]
    folded: list[FoldedHit]  # of groups that earlier pages have shown without them
    found: GroupCount
    complete: bool  # False if a hit to be shown was deleted meanwhile


def grouped_answer(request: ClientSearch, hits: AttachedHits, page: GroupPage, below: str) -> dict[str, Any]:
    """Return the engine's answer to a search, with the hits of a page of groups."""
    relation = "gte" if page.found.groups is None or hits.partial else "eq"

    def total(count: int) -> Any:
        return count if request.as_int else {"value": count, "relation": relation}

    def member_hit(member: HitMember) -> Hit:
        ours = {"resemblance": member.resemblance, "kind": member.kind, "error": member.error}
        fields = {f"{below}.{name}": [value] for name, value in ours.items()}
        return {**member.hit, "fields": member.hit.get("fields", {}) | fields}

    def inner_hits(members: Sequence[HitMember]) -> Any:
        listed = [member_hit(member) for member in members[: request.options.members]]
        scores = [hit["_score"] for hit in listed if hit["_score"] is not None]
        return {"hits": {"total": total(len(members)), "max_score": max(scores, default=None), "hits": listed}}

    shown = [
        {**hit, "inner_hits": _decoded(hit.get("inner_hits")) | {INNER_HITS: inner_hits(members)}}
        for hit, members, _ in page.groups
    ]
    about = {
        "groups": {"value": page.found.at_least, "relation": relation},
        "examined": len(hits.hits),
        "without_fields": hits.without_fields,
        "stale": hits.stale,
        "folded": [{"hit": _name(each.hit), "member": member_hit(each.member)} for each in page.folded],
    }
    return with_ext(request, hits.top, about) | {
        "took": hits.took,
        "timed_out": hits.timed_out,
        "_shards": hits.shards,
        "hits": _total(request, hits.top) | {"max_score": hits.top["hits"].get("max_score"), "hits": shown},
    }


def with_ext(request: ClientSearch, answer: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer of the engine with `about`, the facts about its groups, as `ext.winnow`."""
    hits = _total(request, answer) | {name: value for name, value in answer["hits"].items() if name != "total"}
    return {**answer, "hits": hits, "ext": _decoded(answer.get("ext")) | {"winnow": about}}


def _total(request: ClientSearch, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the total in the form that the client wants, if the engine has counted."""
    total = answer["hits"].get("total")
    if request.as_int:
        return {"total": -1 if total is None else total["value"]}
    return {} if total is None else {"total": total}


def _name(hit: Hit) -> Hit:
    return {name: hit[name] for name in ("_index", "_id", "_routing") if name in hit}


def _decoded(part: Any) -> dict[str, Any]:
    return msgspec.json.decode(part, type=dict[str, msgspec.Raw]) if isinstance(part, msgspec.Raw) else {}
