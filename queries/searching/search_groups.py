"""Searches any index in groups, with the caller's own client: `search_groups`, and `search_groups_async`.

A client is any object with the methods `search`, `create_pit`, `delete_pit` and `info` of opensearch-py, or `search`,
`open_point_in_time` and `close_point_in_time` of elasticsearch-py. The steps of a search have no network: they yield
the methods to call, for both kinds of clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, asdict, dataclass
from http import HTTPStatus
from operator import attrgetter
from typing import Any, Self
from urllib.parse import quote

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.keywords import with_options
from opensearch_winnow.foundation.options import Options, option_of
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.dsl.pages import Search
from opensearch_winnow.queries.searching.cursor_text import CURSOR_EXPIRED, not_a_cursor, packed_cursor, unpacked_cursor
from opensearch_winnow.queries.searching.engine_hits import Answer
from opensearch_winnow.queries.searching.grouping import Call, Grouping, Steps
from opensearch_winnow.queries.searching.hit_documents import FieldTexts
from opensearch_winnow.queries.searching.hit_groups import HitGroups, response_body
from opensearch_winnow.queries.searching.representatives import Representatives
from opensearch_winnow.queries.searching.search_request import SearchOptions
from opensearch_winnow.queries.searching.stamped_hits import StampedHits

KEEP_ALIVE = "5m"  # for which the engine keeps a point in time between two pages
FIRST_WITH_POINTS = (2, 4)  # the first version of OpenSearch that has points in time
FIRST_ELASTICSEARCH_WITH_POINTS = (8,)  # 7.10 has them only with a plugin that is not free software
# Options of a search that cannot be grouped page by page, and what to do instead.
REFUSED_OPTIONS = {
    "collapse": "it would hide hits before they are grouped; remove it",
    "from": "cursors lead from page to page; remove it",
    "pit": "search_groups makes its own point in time; remove it",
    "profile": "there are several requests; remove it",
    "rescore": "engines rescore the first hits only, and do not sort them; remove it",
    "search_after": "cursors lead from page to page; remove it",
    "search_pipeline": "it might change the hits before they are grouped; remove it",
    "size": "limit is the number of groups on a page; remove it",
    "slice": "other slices have copies of the same documents; remove it",
    "suggest": "suggestions have no groups; search for them separately",
    "terminate_after": "the engine would leave out hits; remove it",
}


class NoMethodError(QuestionError):
    """A client lacks a method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions(Options):
    """The options of each page of a search in groups, which its cursor keeps."""

    min_resemblance: float = option_of(SearchOptions, "min_resemblance")
    below: str = ""
    examine: int = option_of(SearchOptions, "examine")
    limit: int = option_of(SearchOptions, "limit")
    keep_alive: str = KEEP_ALIVE


@dataclass(frozen=True, slots=True)
class GroupsQuestion(PageOptions):
    """A search in groups: its index and body, or the cursor of an earlier page."""

    index: str | Sequence[str] | None = None
    body: Mapping[str, Any] | None = None
    _: KW_ONLY
    cursor: str | None = None
    scheme: Scheme = Scheme()
    text: str | Sequence[str] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRequest(PageOptions):
    """The parameters of a search in groups, without the scheme: its key is secret, and cursors are readable."""

    index: str
    body: dict[str, Any]
    text: tuple[str, ...]

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        for name, reason in REFUSED_OPTIONS.items():
            if name in self.body:
                raise QuestionError(f"a search with {name} cannot be grouped page by page: {reason}")
        if self.body.get("stored_fields") in ("_none_", ["_none_"]):
            raise QuestionError("a search without ids cannot be grouped: remove stored_fields, _source=False is enough")


@with_options(GroupsQuestion)
def search_groups(client: Any, question: GroupsQuestion) -> HitGroups:
    """Search an index with a `body` of your own, and return a page of groups. Its `.cursor` leads to the next page.

        page = search_groups(client, "articles", {"query": …}, below="winnow")
        page = search_groups(client, cursor=page.cursor)

    `client` is an opensearch-py or elasticsearch-py client, and `index` an index that has the fields of
    `winnow_fields`. Hits are grouped as by `group_hits`, with the same `min_resemblance`, `scheme`, `below` and `text`.
    Texts are read for pairs near that resemblance and, in an attached index, for documents that were changed since
    their fields were made: these are compared by their present texts. A document without a text in `text` is a group of
    its own. Fields without a stamp, which only other programs write, are trusted. At least `examine` hits are grouped.
    A page has up to `limit` groups.

    The first page freezes the results: whatever is written later, each document is on one page, and a copy of a hit on
    an earlier page is among `.folded`. The engine keeps them for `keep_alive` after each page; then the cursor has
    expired. Pass a cursor alone, but with the scheme: it contains everything else, readable and unsigned. Accept it
    only from users who may choose the search.
    """
    return _run(client, _steps(question))


@with_options(GroupsQuestion)
async def search_groups_async(client: Any, question: GroupsQuestion) -> HitGroups:
    """Search with an asynchronous client, such as `AsyncOpenSearch`. See `search_groups`."""
    return await _run_async(client, _steps(question))


@dataclass(frozen=True, slots=True)
class GroupCursor:
    """The position at which a search in groups continues."""

    request: GroupRequest
    scheme_id: str
    point: str  # the id of the point in time
    shown: int = 0  # groups on the pages so far
    examined: int = 0  # hits
    total: int | None = None  # hits, if the engine has counted them

    def __str__(self) -> str:
        return packed_cursor([asdict(self.request), self.scheme_id, self.point, self.shown, self.examined, self.total])

    @classmethod
    def of(cls, written: str) -> Self:
        """Parse a cursor from its `str`. Any other text raises a QuestionError."""
        content = unpacked_cursor(written)
        try:
            request, scheme_id, point, shown, examined, total = content
            made = GroupRequest(**request | {"text": tuple(request["text"])})
            texts = (made.index, made.below, made.keep_alive, *made.text, scheme_id, point)
            numbers = (shown, examined, 0 if total is None else total)
            if not all(isinstance(each, str) for each in texts):
                raise TypeError
            if any(type(each) is not int or each < 0 for each in numbers):
                raise TypeError
            return cls(made, scheme_id, point, shown, examined, total)
        except (KeyError, ValueError, TypeError, AttributeError, QuestionError):
            raise not_a_cursor() from None


def _steps(question: GroupsQuestion) -> Steps[HitGroups]:
    index, body, text = question.index, question.body, question.text
    if question.cursor is not None:
        if index is not None or body is not None:
            raise QuestionError("a cursor belongs to its own search: pass an index and a body, or a cursor")
        return _next_page(GroupCursor.of(question.cursor), question.scheme)
    if not index or body is None:
        raise QuestionError("search_groups needs an index and a body, or the cursor of an earlier page")
    request = question.part(PageOptions).extended(
        GroupRequest,
        index=index if isinstance(index, str) else ",".join(index),
        body=dict(body),
        text=(text,) if isinstance(text, str) else tuple(text),
    )
    return _first_page(request, question.scheme)


def _run(client: Any, steps: Steps[HitGroups]) -> HitGroups:
    try:
        call = next(steps)
        while True:
            try:
                answer = _method(client, call)(**call.arguments)
            except Exception as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
    except StopIteration as end:
        page: HitGroups = end.value
        return page


async def _run_async(client: Any, steps: Steps[HitGroups]) -> HitGroups:
    try:
        call = next(steps)
        while True:
            try:
                answer = await _method(client, call)(**call.arguments)
            except Exception as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
    except StopIteration as end:
        page: HitGroups = end.value
        return page


def _method(client: Any, call: Call) -> Any:
    try:
        return attrgetter(call.method)(client)
    except AttributeError:
        raise NoMethodError(
            f"search_groups needs a client of opensearch-py or elasticsearch-py: this one has no {call.method}"
        ) from None


def _first_page(request: GroupRequest, scheme: Scheme) -> Steps[HitGroups]:
    """Return the steps to the first page of groups."""
    point = yield from _new_point(request)
    try:
        page = yield from _PointSearch(GroupCursor(request, scheme.id, point), scheme).page()
    except Exception:
        yield from _delete_point(point)
        raise
    if page.cursor is None:
        yield from _delete_point(point)
    return page


def _next_page(cursor: GroupCursor, scheme: Scheme) -> Steps[HitGroups]:
    """Return the steps to the page of groups that a cursor leads to."""
    if cursor.scheme_id != scheme.id:
        raise QuestionError("this cursor was made with another scheme: pass the same (scheme=…) for each page")
    return (yield from _PointSearch(cursor, scheme).page())


class _PointSearch:
    """One search at a point in time.

    Each page examines the hits of the earlier pages again, which gives the same groups: the point in time has not
    changed, and a cursor works in any process.
    """

    def __init__(self, cursor: GroupCursor, scheme: Scheme) -> None:
        request = cursor.request
        self._request = request
        self._cursor = cursor
        self._hits = StampedHits(
            {"track_total_hits": True} | request.body,
            self._search,
            scheme,
            below=request.below,
            texts=FieldTexts(request.text),
            count=not cursor.examined,  # later, the numbers are known
        )
        self._hits.total = cursor.total
        decides = Representatives(scheme, request.min_resemblance)
        self._grouping = Grouping(self._hits, decides, examine=max(request.examine, cursor.examined))

    def page(self) -> Steps[HitGroups]:
        """Return the steps to the page of groups that the cursor leads to."""
        request, cursor, grouping = self._request, self._cursor, self._grouping
        page = yield from grouping.page(cursor.shown, request.limit, examined_before=cursor.examined)
        groups, folded = yield from self._hits.groups(grouping, page)
        total, shown = self._hits.total, cursor.shown + len(page.members)
        count = grouping.count(total)
        following = GroupCursor(request, cursor.scheme_id, cursor.point, shown, grouping.examined, total)
        return HitGroups(
            groups=groups,
            folded=folded,
            total=total,
            count=count.groups,
            at_least=count.at_least,
            at_most=count.at_most,
            examined=grouping.examined,
            without_fields=self._hits.without_fields,
            stale=self._hits.stale,
            aggregations=self._hits.first.get("aggregations", {}),
            cursor=str(following) if grouping.has_more_than(shown) else None,
        )

    def _search(self, search: Search) -> Steps[Answer]:
        keep_alive = self._request.keep_alive
        at_point = search | {"pit": {"id": self._cursor.point, "keep_alive": keep_alive}}
        try:
            response = yield Call("search", {"body": at_point, "allow_partial_search_results": False})
        except Exception as error:
            if getattr(error, "status_code", None) == HTTPStatus.NOT_FOUND:
                raise QuestionError(f"{CURSOR_EXPIRED}; a cursor works for {keep_alive} after each use") from error
            raise
        return response_body(response)


def _new_point(request: GroupRequest) -> Steps[str]:
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


def _delete_point(point: str) -> Steps[None]:
    """Delete a point in time, by the API of the engine that made it. It also expires by itself."""
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
