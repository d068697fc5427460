"""Finds the groups of one page of a search, which `from` and `size` count."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.attached_hits import AttachedHits
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW
from opensearch_winnow.queries.examined_hits import Call
from opensearch_winnow.queries.hit_documents import Hit
from opensearch_winnow.queries.representatives import Similarity
from opensearch_winnow.queries.search_request import MAX_BATCH_SIZE

MAX_EXAMINED = MAX_RESULT_WINDOW  # hits; engines page no further by `from` and `size`


class Member(NamedTuple):
    """A folded hit."""

    place: int  # among the examined hits, as all places here
    representative: int
    similarity: Similarity


class GroupWindow(NamedTuple):
    """The groups of a page, and hits that have joined groups of earlier pages."""

    shown: dict[int, Hit]  # by place, in order
    members: dict[int, list[Member]]  # by the place of the hit that is shown
    folded: list[Member]  # found later than the pages on which their groups are shown
    complete: bool  # none of the hits that are shown was deleted meanwhile


def group_window(examined: AttachedHits, start: int, size: int, examine: int) -> Generator[Call, Any, GroupWindow]:
    """Return the steps to the groups from `start` on, among at least `examine` hits.

    Hits are examined in batches that do not depend on the page. So each page knows how many hits the page before it has
    examined, and every hit is on one page: as the hit shown, as a member, or among `folded`.
    """
    if start + size > MAX_EXAMINED:
        raise QuestionError(
            f"Result window is too large, from + size must be less than or equal to: [{MAX_EXAMINED}] groups but was"
            f" [{start + size}]"
        )
    hits, representatives = examined.hits, examined.representatives
    examined_before = 0 if start == 0 else None
    while (
        not examined.exhausted
        and len(hits) < MAX_EXAMINED
        and (len(hits) < examine or len(representatives) < start + size)
    ):
        wanted = examine - len(hits) if len(hits) < examine else len(hits)
        yield from examined.examine(min(wanted, MAX_BATCH_SIZE, MAX_EXAMINED - len(hits)))
        if examined_before is None and len(hits) >= examine and len(representatives) >= start:
            examined_before = len(hits)
    if start > len(representatives) and not examined.exhausted:
        raise QuestionError(
            f"Result window is too large: the first [{len(hits)}] hits are [{len(representatives)}] groups, but from"
            f" was [{start}]"
        )
    places = representatives[start : start + size]
    members: dict[int, list[Member]] = {place: [] for place in places}
    earlier = set(representatives[:start])
    folded: list[Member] = []
    for place, (representative, similarity) in examined.joins.items():
        member = Member(place, representative, similarity)
        if representative in members:
            members[representative].append(member)
        elif representative in earlier and examined_before is not None and place >= examined_before:
            folded.append(member)
    shown = yield from examined.shown(places)
    return GroupWindow(shown, members, folded, complete=len(shown) == len(places))
