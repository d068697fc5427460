"""Tests what search_groups refuses, and its cursors, without an engine."""

from __future__ import annotations

import asyncio
import json
import zlib
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import QuestionError
from opensearch_winnow.clients import search_groups, search_groups_async
from opensearch_winnow.queries.searching.search_groups import REFUSED_OPTIONS, GroupCursor, GroupRequest

BODY: dict[str, Any] = {"query": {"match": {"title": "mill"}}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class NoClient:
    """A client that must not be used."""


def request(body: dict[str, Any] = BODY) -> GroupRequest:
    options: dict[str, Any] = {"min_resemblance": 0.5, "below": "winnow", "limit": 10, "keep_alive": "5m"}
    options["examine"] = 100
    return GroupRequest(index="articles", body=body, text=("title", "body"), **options)


@pytest.mark.parametrize("name", REFUSED_OPTIONS)
def test_what_cannot_work_is_refused(name: str) -> None:
    said = f"a search with {name} cannot be grouped page by page: .*(?:remove it|separately)$"
    with pytest.raises(QuestionError, match=said):
        search_groups(NoClient(), "articles", BODY | {name: 0})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_resemblance": 0}, "above 0 and at most 1, not 0"),
        ({"min_resemblance": float("nan")}, "above 0 and at most 1, not nan"),
        *(({"limit": each}, f"limit is a whole number from 1 to 10,000, not {each}") for each in (0, 10_001)),
        ({"examine": 0}, "examine is a whole number from 1 to 1,000,000, not 0"),
        ({"body": BODY | {"stored_fields": "_none_"}}, "a search without ids cannot be grouped"),
        *(({name: None}, "needs an index and a body, or the cursor") for name in ("body", "index")),
        ({"index": []}, "needs an index and a body, or the cursor"),
        ({"cursor": "x"}, "pass an index and a body, or a cursor"),
        ({"cursor": "x", "index": None, "body": None}, "this is not a cursor"),
        ({}, "needs a client of opensearch-py or elasticsearch-py: this one has no open_point_in_time"),
    ],
)
def test_a_wrong_call_is_refused(options: dict[str, Any], said: str) -> None:
    arguments: dict[str, Any] = {"index": "articles", "body": BODY} | options
    with pytest.raises(QuestionError, match=said):
        search_groups(NoClient(), **arguments)
    with pytest.raises(QuestionError, match=said):
        asyncio.run(search_groups_async(NoClient(), **arguments))


def test_a_cursor_is_what_was_written_and_may_have_dates() -> None:
    for total in (None, 7):
        cursor = GroupCursor(request(), "scheme", "point", 10, 120, total)
        assert GroupCursor.of(str(cursor)) == cursor
    since = datetime(2024, 5, 6, tzinfo=UTC)
    written = str(GroupCursor(request({"query": {"range": {"day": {"gte": since}}}}), "scheme", "point"))
    assert GroupCursor.of(written).request.body == {"query": {"range": {"day": {"gte": since.isoformat()}}}}


@given(st.text(max_size=30) | JSON)
def test_what_is_no_cursor_is_refused(content: Any) -> None:
    packed = urlsafe_b64encode(zlib.compress(json.dumps(content).encode())).decode()
    for written in (packed, content if isinstance(content, str) else packed[:-5]):
        with pytest.raises(QuestionError, match="this is not a cursor"):
            GroupCursor.of(written)


@pytest.mark.parametrize(
    "change",
    [
        *({"point": 7}, {"shown": -1}, {"shown": True}, {"examined": "1"}, {"total": 1.5}, {"request": {}}),
        *({"request": {"limit": limit}} for limit in (10**9, "10")),
        *({"request": {"text": text}} for text in (None, [1])),
        *({"request": {"body": []}}, {"request": {"index": 1, "more": 2}}),
    ],
)
def test_a_cursor_that_was_changed_is_refused(change: dict[str, Any]) -> None:
    made = request()
    of_request = {name: getattr(made, name) for name in GroupRequest.__slots__}
    values = {"scheme_id": "x", "point": "p", "shown": 0, "examined": 0, "total": None}
    whole: dict[str, Any] = {"request": of_request, **values}
    changed = whole | change
    if change.get("request"):
        changed["request"] = of_request | change["request"]
    written = urlsafe_b64encode(zlib.compress(json.dumps(list(changed.values())).encode())).decode()
    with pytest.raises(QuestionError, match="this is not a cursor"):
        GroupCursor.of(written)
