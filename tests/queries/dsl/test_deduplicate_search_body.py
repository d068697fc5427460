"""`deduplicate_search_body` turns a search body into a collapsed one, and leaves the given body unchanged."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from opensearch_winnow import QuestionError
from opensearch_winnow.clients import deduplicate_search_body

BODY: dict[str, Any] = {
    "query": {"match": {"title": "mill"}},
    "sort": [{"n": "desc"}],
    "from": 20,
    "size": 5,
    "_source": ["title"],
    "docvalue_fields": ["n"],
    "highlight": {"fields": {"title": {}}},
    "aggs": {"sites": {"terms": {"field": "site"}}},
}


def test_what_is_asked_for_stays_and_members_look_as_hits_do() -> None:
    given = deepcopy(BODY)
    made = deduplicate_search_body(given)
    assert {name: made[name] for name in BODY} == BODY | {"aggs": made["aggs"]}
    assert made["aggs"]["sites"] == BODY["aggs"]["sites"]
    made["collapse"]["inner_hits"]["sort"].clear()
    made["query"]["match"]["title"] = "sea"
    made["aggs"]["sites"]["terms"]["field"] = "crawl"
    assert given == BODY  # it shares no object with the result
    collapse = deduplicate_search_body(BODY, field="winnow.cluster", members=3)["collapse"]
    assert collapse["field"] == "winnow.cluster"
    shown = {name: BODY[name] for name in ("sort", "_source", "docvalue_fields", "highlight")}
    assert collapse["inner_hits"] == {"name": "same winnow.cluster", "size": 4, **shown}  # the hit is one of the four


@pytest.mark.parametrize("name", ["aggs", "aggregations"])
def test_aggregations_are_added_to_those_of_the_body(name: str) -> None:
    made = deduplicate_search_body({name: {"sites": {"terms": {"field": "site"}}}})
    assert set(made[name]) == {"sites", "winnow_groups"}
    assert len({"aggs", "aggregations"} & set(made)) == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"collapse": {"field": "site"}}, "a search with collapse cannot be collapsed: it is collapsed already"),
        ({"rescore": {"query": {}}}, "engines do not rescore collapsed hits; remove it"),
        ({"search_after": [1]}, "engines page through collapsed hits by from and size"),
        ({"pit": {"id": "x"}}, "in the index as it is now, and not at a point in time"),
        ({"slice": {"id": 0, "max": 2}}, "other slices have copies of the same page"),
        ({"stored_fields": "_none_"}, "a search without ids cannot be collapsed"),
    ],
)
def test_what_cannot_work_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        deduplicate_search_body(BODY | more)


@pytest.mark.parametrize("members", [0, -1, 10_000])
def test_members_are_bounded(members: int) -> None:
    with pytest.raises(QuestionError, match=rf"members must be from 1 to 9,999, not {members}"):
        deduplicate_search_body(BODY, members=members)
