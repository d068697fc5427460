"""Groups the hits of any search at a point in time, page by page. Has no network: a driver calls the client.

    steps = first_page(request, scheme)
    call = next(steps)
    while True:
        call = steps.send(getattr(client, call.method)(**call.arguments))  # StopIteration has the GroupPage

First the signatures of the hits are read, in the order of the caller's search and without documents. Then the hits of
one page of groups are fetched as the caller wants them.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, NamedTuple

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.cursor_text import CURSOR_EXPIRED
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW, Search
from opensearch_winnow.queries.group_page import FoldedHit, GroupCursor, GroupPage, GroupRequest
from opensearch_winnow.queries.hit_documents import Hit, HitDocuments
from opensearch_winnow.queries.hit_groups import HitGroup, HitMember, hit_member, response_body, response_total
from opensearch_winnow.queries.representatives import Join, Pair, Representatives
from opensearch_winnow.queries.search_request import MAX_BATCH_SIZE, MAX_EXAMINED_PER_RESULT_PAGE

FIRST_WITH_POINTS = (2, 4)  # the first version of OpenSearch that has points in time
NO_PARTIAL_RESULTS = {"allow_partial_search_results": "false"}
# Within a shard, no two documents have the same number. Unlike `_id`, it is sorted without loading ids into memory.
TIEBREAKER = "_seq_no"
# Options of a search that are only needed for the hits that are shown.
SHOWING = (
    "_source",
    "explain",
    "fields",
    "highlight",
    "script_fields",
    "seq_no_primary_term",
    "stored_fields",
    "version",
)
# Options that decide which hits there are. The hits that are shown are known.
FINDING = ("aggregations", "aggs", "min_score", "post_filter", "track_total_hits")
DOCUMENTS_PER_REQUEST = 1_000


class Call(NamedTuple):
    """A method of the client to call, with its arguments."""

    method: str
    arguments: dict[str, Any]


Key = tuple[str, str, str | None]  # index, id and routing of a document


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
        prefix = f"{request.below}." if request.below else ""
        self._request = request
        self._cursor = cursor
        self._total = cursor.total
        self._aggregations: dict[str, Any] = {}
        self._text_fields = [*request.text, "url"]  # the URL tells the language of code
        self._documents = HitDocuments(scheme, prefix, request.text)  # the hits that were examined
        self._grouping = Representatives(scheme, request.threshold)
        self._representatives: list[int] = []  # places among the hits
        self._joins: dict[int, Join] = {}  # by the place of the member
        self._read: set[int] = set()  # places of the hits whose text was read
        self._exhausted = False  # there are no more hits
        self._shards = 1
        wanted = request.body.get("docvalue_fields", [])
        named = {each["field"] if isinstance(each, Mapping) else each for each in wanted}
        self._added = {f"{prefix}shingle_count", f"{prefix}minhash"} - named
        self._signatures: Search = {
            **_without(request.body, SHOWING),
            "sort": [*request.sort, {TIEBREAKER: "asc"}],
            "track_scores": request.body.get("track_scores", "sort" not in request.body),
            "docvalue_fields": [*wanted, *sorted(self._added)],
            "track_total_hits": request.body.get("track_total_hits", True),
            "_source": False,
        }
        self._last_hits: list[Hit] = []  # of the last answer, those with the greatest sort values

    def page(self) -> Generator[Call, Any, GroupPage]:
        """Return the steps to the page of groups that the cursor leads to."""
        request, cursor, hits = self._request, self._cursor, self._documents.hits
        start, end = cursor.shown, cursor.shown + request.limit
        at_least, at_most = max(request.examine, cursor.examined), cursor.examined + MAX_EXAMINED_PER_RESULT_PAGE
        while not self._exhausted and (
            len(hits) < at_least or (len(self._representatives) < end and len(hits) < at_most)
        ):
            yield from self._examine(min(at_least - len(hits) if len(hits) < at_least else len(hits), MAX_BATCH_SIZE))
        shown, shown_before = self._representatives[start:end], set(self._representatives[:start])
        members: dict[int, list[HitMember]] = {place: [] for place in shown}
        folded: list[FoldedHit] = []
        for place, (representative, similarity) in self._joins.items():
            if representative in members:
                members[representative].append(hit_member(self._bare(place), similarity))
            elif place >= cursor.examined and representative in shown_before:
                folded.append(FoldedHit(self._bare(representative), hit_member(self._bare(place), similarity)))
        whole = yield from self._fetched(shown, _without(request.body, FINDING))
        groups, examined = len(self._representatives), len(hits)
        following = GroupCursor(request, cursor.scheme_id, cursor.point, start + len(shown), examined, self._total)
        return GroupPage(
            groups=[HitGroup(whole[place], members[place], 1 + len(members[place])) for place in shown],
            folded=folded,
            total=self._total,
            count=groups if self._exhausted else None,
            at_least=groups,
            at_most=_at_most(groups, self._total, examined, exhausted=self._exhausted),
            examined=examined,
            without_fields=self._documents.without_fields,
            aggregations=self._aggregations,
            cursor=None if self._exhausted and following.shown == groups else str(following),
        )

    def _examine(self, wanted: int) -> Generator[Call, Any, None]:
        """Read the signatures of more hits, and group them."""
        search = self._signatures | {"size": wanted + len(self._last_hits)}
        first = not self._documents.hits
        count_all = first and not self._cursor.examined  # later, the numbers are known
        if not count_all:
            search = _without(search, ("aggregations", "aggs")) | {"track_total_hits": False}
        if not first:
            # Documents of several shards may have the same number. So those with the last values are read again.
            *values, number = self._last_hits[-1]["sort"]
            search["search_after"] = [*values, number - 1]
        response = yield from self._search(search)
        if count_all:
            self._total = response_total(response)
            self._aggregations = response.get("aggregations", {})
        found: list[Hit] = response["hits"]["hits"]
        seen = set(map(_key, self._last_hits))
        places = [self._documents.add(hit) for hit in found if _key(hit) not in seen]
        if found:
            self._last_hits = [hit for hit in found if hit["sort"] == found[-1]["sort"]]
        self._exhausted = len(found) < search["size"] or len(self._documents.hits) == self._total
        batch = self._grouping.begin([self._documents.sketched[place] for place in places])
        while pairs := batch.undecided:
            yield from self._read_texts(pairs)
            batch.settle(self._documents.resemblances(pairs))
        for place, join in zip(places, self._grouping.commit(batch), strict=True):
            if join is None:
                self._representatives.append(place)
            else:
                self._joins[place] = join

    def _read_texts(self, pairs: Sequence[Pair]) -> Generator[Call, Any, None]:
        unread = {place for pair in pairs for place in pair} - self._read if self._request.text else set()
        self._read |= unread
        for place, hit in (yield from self._fetched(sorted(unread), {"_source": self._text_fields})).items():
            self._documents.read_text(place, hit)

    def _fetched(self, places: Sequence[int], search: Search) -> Generator[Call, Any, dict[int, Hit]]:
        """Return the hits at these places as `search` asks for them. Its query only scores and highlights them."""
        hits = self._documents.hits
        by_key: dict[Key, Hit] = {}
        for start in range(0, len(places), DOCUMENTS_PER_REQUEST):
            keys = [_key(hits[place]) for place in places[start : start + DOCUMENTS_PER_REQUEST]]
            query = {"bool": {"filter": [_these(keys)], "should": [search.get("query") or {"match_all": {}}]}}
            # With routing, each shard may have a document of the same id.
            size = min(len(keys) * self._shards, MAX_RESULT_WINDOW)
            response = yield from self._search(search | {"query": query, "size": size, "track_total_hits": False})
            by_key |= {_key(hit): hit for hit in response["hits"]["hits"]}
        return {place: by_key[_key(hits[place])] for place in places}

    def _search(self, search: Search) -> Generator[Call, Any, Mapping[str, Any]]:
        keep_alive = self._request.keep_alive
        at_point = search | {"pit": {"id": self._cursor.point, "keep_alive": keep_alive}}
        try:
            response = yield Call("search", {"body": at_point, "params": NO_PARTIAL_RESULTS})
        except Exception as error:
            if getattr(error, "status_code", None) == HTTPStatus.NOT_FOUND:
                raise QuestionError(f"{CURSOR_EXPIRED}; a cursor works for {keep_alive} after each use") from error
            raise
        answer = response_body(response)
        self._shards = answer["_shards"]["total"]
        return answer

    def _bare(self, place: int) -> Hit:
        """Return an examined hit without what was added to the caller's search."""
        hit = self._documents.hits[place]
        bare = {name: value for name, value in hit.items() if name not in ("fields", "sort")}
        if fields := _without(hit.get("fields", {}), self._added):
            bare["fields"] = fields
        return bare


def _new_point(request: GroupRequest) -> Generator[Call, Any, str]:
    parameters = {"keep_alive": request.keep_alive, "allow_partial_pit_creation": "false"}
    try:
        answer = yield Call("create_pit", {"index": request.index, "params": parameters})
    except Exception as error:
        if getattr(error, "status_code", None) in (HTTPStatus.BAD_REQUEST, HTTPStatus.METHOD_NOT_ALLOWED):
            about = (yield Call("info", {}))["version"]
            version = tuple(int(part) for part in about["number"].split(".")[:2])
            if about.get("distribution") != "opensearch" or version < FIRST_WITH_POINTS:
                raise QuestionError(
                    "this engine has no points in time, which OpenSearch has from version 2.4 on: without one, pages of"
                    " groups would not fit together. In a store, Index.search(…, group=True, stable=True) works on"
                    " every engine"
                ) from error
        raise
    point: str = answer["pit_id"]
    return point


def _delete_point(point: str) -> Generator[Call, Any, None]:
    with suppress(Exception):  # the point expires by itself, too
        yield Call("delete_pit", {"body": {"pit_id": [point]}})


def _at_most(groups: int, total: int | None, examined: int, *, exhausted: bool) -> int | None:
    if exhausted:
        return groups
    return None if total is None else groups + total - examined


def _these(keys: Sequence[Key]) -> Clause:
    ids: dict[str, list[str]] = {}
    for index, id_, _ in keys:
        ids.setdefault(index, []).append(id_)
    each = [[{"term": {"_index": index}}, {"ids": {"values": some}}] for index, some in ids.items()]
    return {"bool": {"should": [{"bool": {"filter": both}} for both in each]}}


def _key(hit: Hit) -> Key:
    return hit["_index"], hit["_id"], hit.get("_routing")


def _without(mapping: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name not in names}
