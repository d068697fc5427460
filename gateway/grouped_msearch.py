"""Answers a client's `_msearch`: the searches to be grouped one by one, and the others as the engine does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.errors import JSON
from opensearch_winnow.gateway.filter_path import filtered
from opensearch_winnow.gateway.group_options import GroupOptions
from opensearch_winnow.gateway.grouped_search import Find, grouped_search, plain_address, refusal
from opensearch_winnow.gateway.search_request import NotJsonError, search_body

CONCURRENT_SEARCHES = 4  # of one request, unless it asks for fewer
OF_ALL = ("max_concurrent_searches", "pretty", "format")  # parameters that are not for each search

# Statuses that no engine gives to one of several searches.
OF_THE_WHOLE_REQUEST = (HTTPStatus.UNAUTHORIZED, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)


class _Search(NamedTuple):
    header: dict[str, Any]
    lines: bytes  # the header and the body, as they came
    body: bytes


async def grouped_msearch(path: str, query: Mapping[str, str], body: bytes, find: Find, send: Send) -> EngineAnswer:
    """Answer several searches, of which those are grouped that ask for it; all if the address has `winnow=group`."""
    start = time.monotonic()
    try:
        searches = _searches(body)
    except NotJsonError:
        return await send("POST", plain_address(path, query), body)  # the engine says what is wrong
    if "format" in query:
        return refusal("searches with format cannot be grouped: remove it")
    filter_path, query = query.get("filter_path", ""), {**query}
    query.pop("filter_path", None)
    limit = query.get("max_concurrent_searches", "")
    turns = asyncio.Semaphore(
        max(1, min(int(limit), CONCURRENT_SEARCHES)) if limit.isdecimal() else CONCURRENT_SEARCHES
    )

    async def run(search: _Search) -> EngineAnswer:
        async with turns:
            return await _answer(path, query, search, find, send)

    answers = await asyncio.gather(*map(run, searches))
    failed = next((each for each in answers if each.status in OF_THE_WHOLE_REQUEST), None)
    if failed is not None:
        return failed
    responses = [
        msgspec.json.decode(each.body, type=dict[str, msgspec.Raw]) | {"status": each.status} for each in answers
    ]
    content = msgspec.json.encode({"took": round((time.monotonic() - start) * 1_000), "responses": responses})
    content = filtered(content, filter_path)
    if query.get("pretty", "false") in ("", "true"):
        content = msgspec.json.format(content, indent=2) + b"\n"
    headers = next((each.headers for each in answers if each.status == HTTPStatus.OK), {"content-type": JSON})
    return EngineAnswer(HTTPStatus.OK, headers, content)


async def _answer(path: str, query: Mapping[str, str], search: _Search, find: Find, send: Send) -> EngineAnswer:
    try:
        grouped = GroupOptions.of(query, search_body(search.body)) is not None
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


class _Responses(msgspec.Struct):
    responses: list[dict[str, msgspec.Raw]]


def _searches(body: bytes) -> list[_Search]:
    lines = body.split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or len(lines) % 2:
        raise NotJsonError
    pairs = zip(lines[::2], lines[1::2], strict=True)
    searches = [_Search(search_body(header), b"%s\n%s\n" % (header, body), body) for header, body in pairs]
    for search in searches:
        search_body(search.body)
    return searches


def _path(path: str, header: Mapping[str, Any]) -> str:
    """Return the path of one search: the index of its header comes before that of the address."""
    index = header.get("index") or unquote(path).strip("/").rpartition("_msearch")[0].strip("/")
    name = index if isinstance(index, str) else ",".join(map(str, index))
    return f"/{quote(name, safe=',*')}/_search" if name else "/_search"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
