"""Tests what search_groups refuses, and its cursors, without an engine."""

from __future__ import annotations

import asyncio
import json
import zlib
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow import QuestionError, search_groups, search_groups_async
from opensearch_winnow.queries.searching.search_groups import REFUSED_OPTIONS, GroupCursor, GroupRequest

BODY: dict[str, Any] = {"query": {"match": {"title": "mill"}}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class NoClient:
    """A client that must not be used."""


def request(**changes: Any) -> GroupRequest:
    values: dict[str, Any] = {
        "index": "articles",
        "body": BODY,
        "min_resemblance": 0.5,
        "below": "winnow",
        "text": ("title", "body"),
        "examine": 100,
        "limit": 10,
        "keep_alive": "5m",
    }
    return GroupRequest(**values | changes)


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
        ({"limit": 0}, "limit is a whole number from 1 to 10,000, not 0"),
        ({"limit": 10_001}, "limit is a whole number from 1 to 10,000, not 10001"),
        ({"examine": 0}, "examine is a whole number from 1 to 1,000,000, not 0"),
        ({"body": BODY | {"stored_fields": "_none_"}}, "a search without ids cannot be grouped"),
        ({"body": None}, "needs an index and a body, or the cursor"),
        ({"index": None}, "needs an index and a body, or the cursor"),
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


@pytest.mark.parametrize("total", [None, 7])
def test_a_cursor_is_what_was_written(total: int | None) -> None:
    cursor = GroupCursor(request(), "scheme", "point", 10, 120, total)
    assert GroupCursor.of(str(cursor)) == cursor


def test_a_cursor_may_have_dates() -> None:
    since = datetime(2024, 5, 6, tzinfo=UTC)
    written = str(GroupCursor(request(body={"query": {"range": {"day": {"gte": since}}}}), "scheme", "point"))
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
        {"point": 7},
        {"shown": -1},
        {"shown": True},
        {"examined": "1"},
        {"total": 1.5},
        {"request": {}},
        {"request": {"limit": 10**9}},
        {"request": {"limit": "10"}},
        {"request": {"body": []}},
        {"request": {"text": None}},
        {"request": {"text": [1]}},
        {"request": {"index": 1, "more": 2}},
    ],
)
def test_a_cursor_that_was_changed_is_refused(change: dict[str, Any]) -> None:
    whole = {"request": vars_of(request()), "scheme_id": "x", "point": "p", "shown": 0, "examined": 0, "total": None}
    changed = whole | change
    if change.get("request"):
        changed["request"] = whole["request"] | change["request"]
    written = urlsafe_b64encode(zlib.compress(json.dumps(list(changed.values())).encode())).decode()
    with pytest.raises(QuestionError, match="this is not a cursor"):
        GroupCursor.of(written)


def vars_of(made: GroupRequest) -> dict[str, Any]:
    return {name: getattr(made, name) for name in GroupRequest.__slots__}
