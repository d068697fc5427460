"""Answers a client's `_msearch`: the searches to be grouped one by one, and the others as the engine does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.errors import JSON, GatewayError
from opensearch_winnow.gateway.filter_path import filtered_apart
from opensearch_winnow.gateway.searching.client_search import NotJsonError, checked_filter_path, is_long, search_body
from opensearch_winnow.gateway.searching.group_options import GroupOptions
from opensearch_winnow.gateway.searching.grouped_search import Find, grouped_search, plain_address, refusal
from opensearch_winnow.gateway.threads import for_searches, one_at_a_time

CONCURRENT_SEARCHES = 4  # of one request, unless it asks for fewer
OF_ALL = ("max_concurrent_searches", "pretty", "format")  # parameters of the whole request

# Statuses that no engine gives to one of several searches.
OF_THE_WHOLE_REQUEST = (HTTPStatus.UNAUTHORIZED, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)


class _ListedSearch(NamedTuple):
    """One of the searches of a request."""

    header: dict[str, Any]
    lines: bytes  # the header and the body, as they came
    body: bytes


async def grouped_msearch(
    path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send, max_searches: int
) -> EngineAnswer:
    """Answer an `_msearch`. Searches with `ext.winnow` are grouped; with `winnow=group` in the address, all are."""
    start = time.monotonic()
    if (count := body.count(b"\n") // 2) > max_searches:
        return refusal(f"{count:,} searches in one request cannot be grouped: send at most {max_searches:,}")
    try:
        searches = await one_at_a_time(len(body), _searches, body)
        filter_path = checked_filter_path(query.get("filter_path", ""))
    except QuestionError as error:
        return refusal(str(error))
    except NotJsonError:
        return await send("POST", plain_address(path, query), body)  # the engine reports the error
    if "format" in query:
        return refusal("searches with format cannot be grouped: remove it")
    query = {name: value for name, value in query.items() if name != "filter_path"}
    limit = query.get("max_concurrent_searches", "")
    most = max(1, min(int(limit), CONCURRENT_SEARCHES)) if is_long(limit) else CONCURRENT_SEARCHES
    waiting = iter(enumerate(searches))
    found: dict[int, EngineAnswer] = {}

    async def run_in_turn() -> None:
        for number, search in waiting:
            try:
                found[number] = await _answer(path, query, search, find, send)
            except GatewayError as error:
                if error.status != HTTPStatus.TOO_MANY_REQUESTS:
                    raise
                found[number] = error.answer()  # memory is short for this one, but not for others

    await asyncio.gather(*(run_in_turn() for _ in range(most)))
    answers = [found[number] for number in range(len(searches))]
    failed = next((each for each in answers if each.status in OF_THE_WHOLE_REQUEST), None)
    if failed is not None:
        return failed
    content = await for_searches(_joined, answers, round((time.monotonic() - start) * 1_000))
    try:
        content = await filtered_apart(content, filter_path)
    except QuestionError as error:
        return refusal(str(error))
    if query.get("pretty", "false") in ("", "true"):
        content = msgspec.json.format(content, indent=2) + b"\n"
    headers = next((each.headers for each in answers if each.status == HTTPStatus.OK), {"content-type": JSON})
    return EngineAnswer(HTTPStatus.OK, headers, content)


def _joined(answers: Sequence[EngineAnswer], took: int) -> bytes:
    responses = [
        msgspec.json.decode(each.body, type=dict[str, msgspec.Raw]) | {"status": each.status} for each in answers
    ]
    return msgspec.json.encode({"took": took, "responses": responses})


async def _answer(path: str, query: Mapping[str, str], search: _ListedSearch, find: Find, send: Send) -> EngineAnswer:
    try:
        # In a thread, even if it is small: refused searches await nothing else, and many would block other requests.
        grouped = await for_searches(_is_grouped, query, search.body)
    except QuestionError as error:
        return refusal(str(error))
    if grouped:
        parameters = {name: value for name, value in query.items() if name not in OF_ALL}
        parameters |= {name: _written(value) for name, value in search.header.items() if name != "index"}
        return await grouped_search(_path(path, search.header), parameters, search.body, find, send)
    answer = await send("POST", plain_address(path, query), search.lines)
    if answer.status != HTTPStatus.OK:
        return answer
    (response,) = msgspec.json.decode(answer.body, type=_Responses).responses
    status = msgspec.json.decode(response.pop("status"))
    return answer._replace(status=status, body=msgspec.json.encode(response))


def _is_grouped(query: Mapping[str, str], body: bytes) -> bool:
    return GroupOptions.of(query, search_body(body)) is not None


class _Responses(msgspec.Struct):
    responses: list[dict[str, msgspec.Raw]]


def _searches(body: bytes) -> list[_ListedSearch]:
    lines = body.split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or len(lines) % 2:
        raise NotJsonError
    pairs = zip(lines[::2], lines[1::2], strict=True)
    searches = [_ListedSearch(search_body(header), b"%s\n%s\n" % (header, body), body) for header, body in pairs]
    for search in searches:
        search_body(search.body)
    return searches


def _path(path: str, header: Mapping[str, Any]) -> str:
    """Return the path of one search: the index in its header overrides the one in the address."""
    index = header.get("index") or unquote(path).strip("/").rpartition("_msearch")[0].strip("/")
    name = index if isinstance(index, str) else ",".join(map(str, index))
    return f"/{quote(name, safe=',*')}/_search" if name else "/_search"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
