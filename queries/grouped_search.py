"""Groups the hits of any search at a point in time, page by page. Has no network: a driver calls the client.

steps = first_page(request, scheme)
call = next(steps)
while True:
    call = steps.send(getattr(client, call.method)(**call.arguments))  # StopIteration has the GroupPage
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.cursor_text import CURSOR_EXPIRED
from opensearch_winnow.queries.dsl.pages import Search
from opensearch_winnow.queries.examined_hits import Call, ExaminedHits, Steps
from opensearch_winnow.queries.group_page import FoldedHit, GroupCursor, GroupPage, GroupRequest
from opensearch_winnow.queries.hit_documents import FieldTexts
from opensearch_winnow.queries.hit_groups import HitGroup, HitMember, hit_member, response_body
from opensearch_winnow.queries.search_request import MAX_BATCH_SIZE, MAX_EXAMINED_PER_RESULT_PAGE

FIRST_WITH_POINTS = (2, 4)  # the first version of OpenSearch that has points in time
FIRST_ELASTICSEARCH_WITH_POINTS = (8,)  # 7.10 has them only with a plugin that is not free software


class NoMethodError(QuestionError):
    """A client lacks a method."""


def first_page(request: GroupRequest, scheme: Scheme) -> Generator[Call, Any, GroupPage]:
    """Return the steps to the first page of groups."""
    point = yield from _new_point(request)
    try:
        page = yield from GroupedSearch(GroupCursor(request, scheme.id, point), scheme).page()
    except Exception:
        yield from _delete_point(point)
        raise
    if page.cursor is None:
        yield from _delete_point(point)
    return page


def next_page(cursor: GroupCursor, scheme: Scheme) -> Generator[Call, Any, GroupPage]:
    """Return the steps to the page of groups that a cursor leads to."""
    if cursor.scheme_id != scheme.id:
        raise QuestionError("this cursor was made with another scheme: pass the same (scheme=…) for each page")
    return (yield from GroupedSearch(cursor, scheme).page())


class GroupedSearch:
    """The groups among the hits of one search, examined in order.

    Each page examines the hits of the earlier pages again, which gives the same groups: the point in time has not
    changed, and a cursor works in any process.
    """

    def __init__(self, cursor: GroupCursor, scheme: Scheme) -> None:
        request = cursor.request
        self._request = request
        self._cursor = cursor
        self._examined = ExaminedHits(
            {"track_total_hits": True} | request.body,
            self._search,
            scheme,
            request.threshold,
            below=request.below,
            texts=FieldTexts(request.text),
            count=not cursor.examined,  # later, the numbers are known
        )
        self._examined.total = cursor.total

    def page(self) -> Generator[Call, Any, GroupPage]:
        """Return the steps to the page of groups that the cursor leads to."""
        request, cursor, examined = self._request, self._cursor, self._examined
        hits, representatives = examined.hits, examined.representatives
        start, end = cursor.shown, cursor.shown + request.limit
        at_least, at_most = max(request.examine, cursor.examined), cursor.examined + MAX_EXAMINED_PER_RESULT_PAGE
        while not examined.exhausted and (len(hits) < at_least or (len(representatives) < end and len(hits) < at_most)):
            wanted = at_least - len(hits) if len(hits) < at_least else len(hits)
            yield from examined.examine(min(wanted, MAX_BATCH_SIZE))
        shown, shown_before = representatives[start:end], set(representatives[:start])
        members: dict[int, list[HitMember]] = {place: [] for place in shown}
        folded: list[FoldedHit] = []
        for place, (representative, similarity) in examined.joins.items():
            if representative in members:
                members[representative].append(hit_member(examined.bare(place), similarity))
            elif place >= cursor.examined and representative in shown_before:
                member = hit_member(examined.bare(place), similarity)
                folded.append(FoldedHit(examined.bare(representative), member))
        whole = yield from examined.shown(shown)
        groups, total, exhausted = len(representatives), examined.total, examined.exhausted
        following = GroupCursor(request, cursor.scheme_id, cursor.point, start + len(shown), len(hits), total)
        return GroupPage(
            groups=[HitGroup(whole[place], members[place], 1 + len(members[place])) for place in shown],
            folded=folded,
            total=total,
            count=groups if exhausted else None,
            at_least=groups,
            at_most=_at_most(groups, total, len(hits), exhausted=exhausted),
            examined=len(hits),
            without_fields=examined.without_fields,
            aggregations=examined.first.get("aggregations", {}),
            cursor=None if exhausted and following.shown == groups else str(following),
        )

    def _search(self, search: Search) -> Steps:
        keep_alive = self._request.keep_alive
        at_point = search | {"pit": {"id": self._cursor.point, "keep_alive": keep_alive}}
        try:
            response = yield Call("search", {"body": at_point, "allow_partial_search_results": False})
        except Exception as error:
            if getattr(error, "status_code", None) == HTTPStatus.NOT_FOUND:
                raise QuestionError(f"{CURSOR_EXPIRED}; a cursor works for {keep_alive} after each use") from error
            raise
        return response_body(response)


def _new_point(request: GroupRequest) -> Generator[Call, Any, str]:
    """Open a point in time: by opensearch-py, by elasticsearch-py, or by opensearch-py in front of Elasticsearch."""
    parameters = {"keep_alive": request.keep_alive}
    try:
        checked = parameters | {"allow_partial_pit_creation": "false"}
        answer = yield Call("create_pit", {"index": request.index, "params": checked})
    except NoMethodError:
        answer = yield Call("open_point_in_time", {"index": request.index, **parameters})
    except Exception as error:
        if getattr(error, "status_code", None) not in (HTTPStatus.BAD_REQUEST, HTTPStatus.METHOD_NOT_ALLOWED):
            raise
        about = (yield Call("info", {}))["version"]
        version = tuple(int(part) for part in about["number"].split(".")[:2])
        is_opensearch = about.get("distribution") == "opensearch"
        if version < (FIRST_WITH_POINTS if is_opensearch else FIRST_ELASTICSEARCH_WITH_POINTS):
            raise QuestionError(
                "this engine has no points in time, which OpenSearch has from version 2.4 on and Elasticsearch from 8"
                " on: without one, pages of groups would not fit together. In a store, Index.search(…, group=True,"
                " stable=True) works on every engine"
            ) from error
        if is_opensearch:
            raise
        path = f"/{quote(request.index, safe=',*')}/_pit"
        answer = yield Call("transport.perform_request", {"method": "POST", "url": path, "params": parameters})
    point: str = answer["pit_id"] if "pit_id" in answer else answer["id"]
    return point


def _delete_point(point: str) -> Generator[Call, Any, None]:
    """Delete a point, in the words of the engine that has made it. It also expires by itself."""
    elsewhere = {"method": "DELETE", "url": "/_pit", "body": {"id": point}}
    calls = [
        Call("delete_pit", {"body": {"pit_id": [point]}}),
        Call("close_point_in_time", {"id": point}),
        Call("transport.perform_request", elsewhere),
    ]
    for call in calls:
        with suppress(Exception):
            yield call
            return


def _at_most(groups: int, total: int | None, examined: int, *, exhausted: bool) -> int | None:
    if exhausted:
        return groups
    return None if total is None else groups + total - examined
