"""Answers a client's `_search` in the engine's own form, with near-duplicates folded into the hit that is shown.

`from` and `size` count groups. The other members of a group are the inner hits `winnow` of its hit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote, urlencode

import msgspec

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.gateway.attached import AttachedIndex, Found, Unusable, find_all
from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.errors import error_answer
from opensearch_winnow.gateway.filter_path import filtered_apart
from opensearch_winnow.gateway.limits import MAX_NAMES_PER_REQUEST
from opensearch_winnow.gateway.searching.attached_hits import AttachedHits
from opensearch_winnow.gateway.searching.client_search import ClientSearch, NotJsonError, search_body, without_ours
from opensearch_winnow.gateway.searching.group_options import is_ours
from opensearch_winnow.gateway.searching.grouped_answer import GroupPage, grouped_answer, with_ext
from opensearch_winnow.gateway.threads import for_searches, one_at_a_time
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER
from opensearch_winnow.queries.searching.grouping import Call, Grouping, Steps
from opensearch_winnow.queries.searching.hit_documents import Hit
from opensearch_winnow.queries.searching.representatives import Representatives

MAX_EXAMINED = MAX_HITS_PER_ANSWER  # hits; engines page no further by `from` and `size`
TRIES = 3  # of a search whose hits are deleted while it runs
# Parts of an answer and of a hit that are passed on as bytes: numbers keep their digits.
PASSED_ON = frozenset(("_source", "highlight", "inner_hits", "_explanation"))
READ = frozenset(("took", "timed_out", "_shards", "hits"))

Find = Callable[[str], Awaitable[Found]]


class RefusedError(Exception):
    """An answer, of the engine or in its form, that ends a grouped search."""

    def __init__(self, answer: EngineAnswer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class UngroupableError(RefusedError):
    """The answer to a search of an index whose documents cannot be grouped, as its look-up has shown."""


async def grouped_search(path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send) -> EngineAnswer:
    """Answer a search that has `winnow` in its address, or `ext.winnow` in its body.

    `path` is the path of the request, percent-encoded, and `query` its parameters. `find` looks up attached indices.
    """
    try:
        request = await one_at_a_time(len(body), ClientSearch.of, path, query, body)
        if request is None:
            return await _plain(path, query, body, send)
        try:
            attached = await _attached(await _index(request, send), find)
        except UngroupableError as error:
            # The gateway may have looked the index up with its own credentials. Clients without permission to search it
            # get the engine's refusal, and learn nothing else.
            plain = await _plain(path, {**query, "size": "0"}, body, send)
            return plain if plain.status != HTTPStatus.OK else error.answer
        return await _GroupedSearch(request, attached, send).answer(lambda: _plain(path, query, body, send))
    except NotJsonError:
        plain = await send("POST", plain_address(path, query), body)
        return plain if plain.status != HTTPStatus.OK else refusal("a grouped search has a JSON object as its body")
    except QuestionError as error:
        return refusal(str(error))
    except RefusedError as refused:
        return refused.answer


def refusal(reason: str) -> EngineAnswer:
    """Return the answer to a search that cannot be grouped."""
    return error_answer(HTTPStatus.BAD_REQUEST, "illegal_argument_exception", reason)


class _GroupedSearch:
    """Runs the steps of a grouped search, and sends their requests to the engine."""

    def __init__(self, request: ClientSearch, attached: AttachedIndex, send: Send) -> None:
        self._request = request
        self._attached = attached
        self._send = send
        self._headers: Mapping[str, str] = {}  # of the engine's first answer

    async def answer(self, plain: Callable[[], Awaitable[EngineAnswer]]) -> EngineAnswer:
        """Return the answer. `plain` sends the search as the client wrote it."""
        try:
            content = await (self._grouped() if self._request.size else self._counted())
        except RefusedError as refused:
            if refused.answer.status != HTTPStatus.BAD_REQUEST:
                raise
            # The reason may quote the gateway's request. The client has to read about its own search.
            plain_answer = await plain()
            return plain_answer if plain_answer.status == HTTPStatus.BAD_REQUEST else refused.answer
        body = await filtered_apart(msgspec.json.encode(content), self._request.filter_path)
        if self._request.pretty:
            body = msgspec.json.format(body, indent=2) + b"\n"
        return EngineAnswer(HTTPStatus.OK, self._headers, body)

    async def _grouped(self) -> dict[str, Any]:
        request = self._request
        for tries_left in reversed(range(TRIES)):
            hits = AttachedHits(request.body, self._attached.maker)
            page = await self._run(_page(request, hits, self._attached.maker.scheme))
            if page.complete or not tries_left:
                return await for_searches(grouped_answer, request, hits, page, self._attached.fields.below)
        raise AssertionError("the last try returns")

    async def _counted(self) -> dict[str, Any]:
        """Return the answer to a search without hits: totals and aggregations. No hit is examined."""
        answer = await self._ask(self._request.body | {"size": 0})
        groups = {"value": 0, "relation": "gte"}
        return with_ext(self._request, answer, {"groups": groups, "examined": 0, "without_fields": 0, "stale": 0})

    async def _run(self, steps: Steps[GroupPage]) -> GroupPage:
        answer = None
        while True:
            # Grouping takes milliseconds, which other requests need not wait for.
            call = await for_searches(_advance, steps, answer)
            if isinstance(call, GroupPage):
                return call
            answer = await self._ask(call.arguments["body"])

    async def _ask(self, search: dict[str, Any]) -> dict[str, Any]:
        answer = await self._send("POST", self._request.address(), search)
        if answer.status != HTTPStatus.OK:
            raise RefusedError(answer)
        self._headers = self._headers or answer.headers
        return await one_at_a_time(len(answer.body), _decoded, answer.body)


def _page(request: ClientSearch, hits: AttachedHits, scheme: Scheme) -> Steps[GroupPage]:
    """Return the steps to a page of groups. `from` and `size` count groups.

    The page first examines the same hits as the page before it, so every hit is on one page.
    """
    start, size = request.start, request.size
    if start + size > MAX_EXAMINED:
        raise QuestionError(
            f"Result window is too large, from + size must be less than or equal to: [{MAX_EXAMINED}] groups but was"
            f" [{start + size}]"
        )
    grouping = Grouping(hits, Representatives(scheme, request.options.min_resemblance), examine=request.options.examine)
    yield from grouping.find_groups(start, MAX_EXAMINED)
    page = yield from grouping.page(start, size, examined_before=grouping.examined, max_examined=MAX_EXAMINED)
    if start > len(grouping.representatives) and not grouping.exhausted:
        raise QuestionError(
            f"Result window is too large: the first [{grouping.examined}] hits are [{len(grouping.representatives)}]"
            f" groups, but from was [{start}]"
        )
    groups, folded = yield from hits.groups(grouping, page)
    return GroupPage(groups, folded, grouping.count(None), complete=len(groups) == len(page.members))


def _advance(steps: Steps[GroupPage], answer: Any) -> Call | GroupPage:
    try:
        return steps.send(answer)
    except StopIteration as end:  # a coroutine must not raise it
        page: GroupPage = end.value
        return page


def _decoded(body: bytes) -> dict[str, Any]:
    top = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    answer = {name: msgspec.json.decode(part) if name in READ - {"hits"} else part for name, part in top.items()}
    hits = msgspec.json.decode(top["hits"], type=dict[str, msgspec.Raw])
    some = msgspec.json.decode(hits.pop("hits"), type=list[dict[str, msgspec.Raw]])
    others = {name: msgspec.json.decode(part) for name, part in hits.items()}
    return answer | {"hits": others | {"hits": [_decoded_hit(hit) for hit in some]}}


def _decoded_hit(hit: dict[str, msgspec.Raw]) -> Hit:
    return {name: part if name in PASSED_ON else msgspec.json.decode(part) for name, part in hit.items()}


async def _attached(searched: str, find: Find) -> AttachedIndex:
    """Return the attached index that a search names. Every name in a list must be an attached index."""
    listed = [name for name in searched.split(",") if name and not name.startswith("-")]  # -name leaves an index out
    names = list(dict.fromkeys((searched, *listed)))
    if len(listed) > MAX_NAMES_PER_REQUEST:
        raise QuestionError(f"a grouped search names at most {MAX_NAMES_PER_REQUEST:,} indices: use an alias, or *")
    found = await find_all(names, find)
    for name in reversed(names):
        match found[name]:
            case Unusable(reason, failure):
                raise UngroupableError(_not_looked_up(reason, failure))
            case None:
                said = f"{name} is not attached, so its documents have no signatures to group by"
                raise UngroupableError(refusal(f"{said}: run `winnow attach` once"))
    attached = found[searched]
    assert isinstance(attached, AttachedIndex)
    return attached


def _not_looked_up(reason: str, failure: EngineAnswer | None) -> EngineAnswer:
    """Return the answer to a search whose index cannot be looked up, with the engine's status if it has refused.

    The engine's own words are left out: the look-up may have used the gateway's credentials.
    """
    said = f"this search cannot be grouped: {reason}"
    if failure is None:
        return refusal(said)
    if failure.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):  # names the missing permission
        said = f"{said} to GET /INDEX, which needs view_index_metadata"
        return error_answer(HTTPStatus.FORBIDDEN, "security_exception", said)
    return error_answer(failure.status, "status_exception", said)


async def _index(request: ClientSearch, send: Send) -> str:
    """Return the name of the searched index, after checking that the client may search it."""
    named = unquote(request.path).strip("/").rpartition("_search")[0].strip("/")
    if named:
        return named  # the search itself shows whether the client may
    index = request.options.index
    if not index:
        raise QuestionError(
            "a grouped search needs an index that is attached: name it in the path, or with a point in time as"
            " winnow_index=… in the address"
        )
    allowed = await send("POST", f"/{quote(index, safe=',*')}/_search?size=0&track_total_hits=false", None)
    if allowed.status != HTTPStatus.OK:
        raise RefusedError(allowed)
    return index


async def _plain(path: str, query: Mapping[str, str], body: bytes, send: Send) -> EngineAnswer:
    """Send a search without winnow's options, but otherwise unchanged."""
    content = await one_at_a_time(len(body), _without_ours, body) if body.strip() else None
    return await send("POST", plain_address(path, query), content)


def _without_ours(body: bytes) -> bytes:
    return msgspec.json.encode(without_ours(search_body(body)))


def plain_address(path: str, query: Mapping[str, str]) -> str:
    """Return the address of a search without winnow's options."""
    rest = {name: value for name, value in query.items() if not is_ours(name)}
    return f"{path}?{urlencode(rest)}" if rest else path
