"""Answers a client's `_search` in the engine's own form, with near-duplicates folded into the hit that is shown.

`from` and `size` count groups. The other members of a group are the inner hits `winnow` of its hit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlencode

import msgspec

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.attached import AttachedIndex, Found, Unusable
from opensearch_winnow.gateway.attached_hits import AttachedHits
from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.errors import error_answer
from opensearch_winnow.gateway.filter_path import filtered
from opensearch_winnow.gateway.group_options import is_ours
from opensearch_winnow.gateway.group_window import GroupWindow, group_window
from opensearch_winnow.gateway.grouped_answer import grouped_answer, with_ext
from opensearch_winnow.gateway.search_request import NotJsonError, SearchRequest, search_body, without_ours
from opensearch_winnow.queries.examined_hits import Call
from opensearch_winnow.queries.hit_documents import Hit

TRIES = 3  # of a search whose hits are deleted while it runs
# Parts of an answer and of a hit that are passed on as bytes: numbers keep their digits.
PASSED_ON = frozenset(("_source", "highlight", "inner_hits", "_explanation"))
READ = frozenset(("took", "timed_out", "_shards", "hits"))

Find = Callable[[str], Awaitable[Found]]


class NotAttachedError(Exception):
    """An index that a search names, and that is not attached."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is not attached, so its documents have no signatures to group by: run `winnow attach` once"
        )


class RefusedError(Exception):
    """An answer, of the engine or in its form, that ends a grouped search."""

    def __init__(self, answer: EngineAnswer) -> None:
        super().__init__(answer.status)
        self.answer = answer


async def grouped_search(path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send) -> EngineAnswer:
    """Answer a search that has `winnow` in its address, or `ext.winnow` in its body.

    `path` is the path of the request, percent-encoded, and `query` its parameters. `find` looks up attached indices.
    """
    try:
        request = SearchRequest.of(path, query, body)
        if request is None:
            return await _plain(path, query, body, send)
        try:
            attached = await _attached(_index(request), find)
        except NotAttachedError as error:
            plain = await _plain(path, query, body, send)  # the index may be missing, for example
            return plain if plain.status != HTTPStatus.OK else refusal(str(error))
        return await _Search(request, attached, send).answer(lambda: _plain(path, query, body, send))
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


class _Search:
    """A grouped search: sends its steps to the engine."""

    def __init__(self, request: SearchRequest, attached: AttachedIndex, send: Send) -> None:
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
            # The reason may quote what was sent. The client is to read about its own search.
            own = await plain()
            return own if own.status == HTTPStatus.BAD_REQUEST else refused.answer
        body = filtered(msgspec.json.encode(content), self._request.filter_path)
        if self._request.pretty:
            body = msgspec.json.format(body, indent=2) + b"\n"
        return EngineAnswer(HTTPStatus.OK, self._headers, body)

    async def _grouped(self) -> dict[str, Any]:
        request = self._request
        for tries_left in reversed(range(TRIES)):
            examined = AttachedHits(request.body, request.options.threshold, self._attached.pages)
            steps = group_window(examined, request.start, request.size, request.options.examine)
            window = await self._run(steps)
            if window.complete or not tries_left:
                return grouped_answer(request, examined, window, self._attached.fields.below)
        raise AssertionError("the last try returns")

    async def _counted(self) -> dict[str, Any]:
        """Return the answer to a search without hits: totals and aggregations. No hit is examined."""
        answer = await self._ask(self._request.body | {"size": 0})
        groups = {"value": 0, "relation": "gte"}
        return with_ext(self._request, answer, {"groups": groups, "examined": 0, "without_fields": 0, "stale": 0})

    async def _run(self, steps: Generator[Call, Any, GroupWindow]) -> GroupWindow:
        answer = None
        while True:
            # Grouping takes milliseconds, which other requests need not wait for.
            call = await asyncio.to_thread(_advance, steps, answer)
            if isinstance(call, GroupWindow):
                return call
            answer = await self._ask(call.arguments["body"])

    async def _ask(self, search: dict[str, Any]) -> dict[str, Any]:
        answer = await self._send("POST", self._request.address(), search)
        if answer.status != HTTPStatus.OK:
            raise RefusedError(answer)
        self._headers = self._headers or answer.headers
        return _decoded(answer.body)


def _advance(steps: Generator[Call, Any, GroupWindow], answer: Any) -> Call | GroupWindow:
    try:
        return steps.send(answer)
    except StopIteration as end:  # which no coroutine may raise
        window: GroupWindow = end.value
        return window


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
    """Return the attached index, or indices, that a search names. Each name has to be that of an attached one."""
    listed = [name for name in searched.split(",") if name and not name.startswith("-")]  # -name leaves an index out
    names = list(dict.fromkeys((searched, *listed)))
    found = dict(zip(names, await asyncio.gather(*map(find, names)), strict=True))
    for name in reversed(names):
        match found[name]:
            case Unusable(reason, failure):
                raise RefusedError(_not_looked_up(reason, failure))
            case None:
                raise NotAttachedError(name)
    attached = found[searched]
    assert isinstance(attached, AttachedIndex)
    return attached


def _not_looked_up(reason: str, failure: EngineAnswer | None) -> EngineAnswer:
    """Return the answer to a search whose index cannot be looked up: if the engine refuses that, with its status."""
    said = f"this search cannot be grouped: {reason}"
    if failure is None:
        return refusal(said)
    if failure.status == HTTPStatus.FORBIDDEN:  # the search itself may be allowed: say what is not
        return error_answer(
            failure.status, "security_exception", f"{said} to GET /INDEX, which needs view_index_metadata"
        )
    return failure


def _index(request: SearchRequest) -> str:
    named = unquote(request.path).strip("/").rpartition("_search")[0].strip("/")
    index = named or request.options.index
    if not index:
        raise QuestionError(
            "a grouped search needs an index that is attached: name it in the path, or with a point in time as"
            " winnow_index=… in the address"
        )
    return index


async def _plain(path: str, query: Mapping[str, str], body: bytes, send: Send) -> EngineAnswer:
    """Send a search as it is, without what is meant for winnow."""
    return await send("POST", plain_address(path, query), without_ours(search_body(body)) if body.strip() else None)


def plain_address(path: str, query: Mapping[str, str]) -> str:
    """Return the address of a search without what is meant for winnow."""
    rest = {name: value for name, value in query.items() if not is_ours(name)}
    return f"{path}?{urlencode(rest)}" if rest else path
