"""Searches any index in groups, with the caller's own client: `search_groups`, and `search_groups_async`.

A client is any object with the methods `search`, `create_pit`, `delete_pit` and `info` of opensearch-py, or `search`,
`open_point_in_time` and `close_point_in_time` of elasticsearch-py.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.examined_hits import Call
from opensearch_winnow.queries.group_page import GroupCursor, GroupPage, GroupRequest
from opensearch_winnow.queries.grouped_search import NoMethodError, first_page, next_page
from opensearch_winnow.queries.search_request import DEFAULT_EXAMINE, DEFAULT_THRESHOLD

KEEP_ALIVE = "5m"  # for which the engine keeps a point in time between two pages

Steps = Generator[Call, Any, GroupPage]


def search_groups(
    client: Any,
    index: str | Sequence[str] | None = None,
    body: Mapping[str, Any] | None = None,
    *,
    cursor: str | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    scheme: Scheme = Scheme(),
    below: str = "",
    text: str | Sequence[str] = "text",
    examine: int = DEFAULT_EXAMINE,
    limit: int = 10,
    keep_alive: str = KEEP_ALIVE,
) -> GroupPage:
    """Search an index with a `body` of your own, and return a page of groups. Its `.cursor` leads to the next page.

        page = search_groups(client, "articles", {"query": …}, below="winnow")
        page = search_groups(client, cursor=page.cursor)

    `client` is an opensearch-py or elasticsearch-py client, and `index` an index that has the fields of
    `winnow_fields`. Hits are grouped as by `group_hits`, with the same `threshold`, `scheme`, `below` and `text`; but
    only texts near the threshold are read, so stale fields are not noticed. At least `examine` hits are grouped. A page
    has up to `limit` groups.

    The first page freezes the results: whatever is written later, each document is on one page, and a copy of a hit on
    an earlier page is among `.folded`. The engine keeps them for `keep_alive` after each page; then the cursor has
    expired. Pass a cursor alone, but with the scheme: it contains everything else, readable and unsigned. Never take it
    from somebody who may not choose the search.
    """
    options = {"threshold": threshold, "below": below, "examine": examine, "limit": limit, "keep_alive": keep_alive}
    return _run(client, _steps(index, body, cursor, scheme, text, **options))


async def search_groups_async(
    client: Any,
    index: str | Sequence[str] | None = None,
    body: Mapping[str, Any] | None = None,
    *,
    cursor: str | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    scheme: Scheme = Scheme(),
    below: str = "",
    text: str | Sequence[str] = "text",
    examine: int = DEFAULT_EXAMINE,
    limit: int = 10,
    keep_alive: str = KEEP_ALIVE,
) -> GroupPage:
    """Search with an asynchronous client, such as `AsyncOpenSearch`. See `search_groups`."""
    options = {"threshold": threshold, "below": below, "examine": examine, "limit": limit, "keep_alive": keep_alive}
    return await _run_async(client, _steps(index, body, cursor, scheme, text, **options))


def _steps(
    index: str | Sequence[str] | None,
    body: Mapping[str, Any] | None,
    cursor: str | None,
    scheme: Scheme,
    text: str | Sequence[str],
    **options: Any,
) -> Steps:
    if cursor is not None:
        if index is not None or body is not None:
            raise QuestionError("a cursor belongs to its own search: pass an index and a body, or a cursor")
        return next_page(GroupCursor.of(cursor), scheme)
    if not index or body is None:
        raise QuestionError("search_groups needs an index and a body, or the cursor of an earlier page")
    request = GroupRequest(
        index=index if isinstance(index, str) else ",".join(index),
        body=dict(body),
        text=(text,) if isinstance(text, str) else tuple(text),
        **options,
    )
    return first_page(request, scheme)


def _run(client: Any, steps: Steps) -> GroupPage:
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
        page: GroupPage = end.value
        return page


async def _run_async(client: Any, steps: Steps) -> GroupPage:
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
        page: GroupPage = end.value
        return page


def _method(client: Any, call: Call) -> Any:
    try:
        return attrgetter(call.method)(client)
    except AttributeError:
        raise NoMethodError(
            f"search_groups needs a client of opensearch-py or elasticsearch-py: this one has no {call.method}"
        ) from None
