"""Tests what is read from the address and the body of a search, and what is refused, without an engine."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.searching.attached_hits import _without_inner_hits
from opensearch_winnow.gateway.searching.client_search import (
    MAX_DEPTH,
    REFUSED,
    ClientSearch,
    NotJsonError,
    may_be_ours,
)
from opensearch_winnow.gateway.searching.group_options import GroupOptions

PATH = "/articles/_search"
GROUP = {"winnow": "group"}


def request(query: dict[str, str], body: Any = None) -> ClientSearch | None:
    return ClientSearch.of(PATH, query, b"" if body is None else json.dumps(body).encode())


def grouped(query: dict[str, str], body: Any = None) -> ClientSearch:
    found = request({**GROUP, **query}, body)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("query", "body", "said"),
    [
        ({"winnow": "groups"}, {}, "winnow=groups is unknown: write winnow=group"),
        ({"winnow_min_resemblance": ".5"}, {}, "add winnow=group"),
        ({**GROUP, "winnow_treshold": ".5"}, {}, "winnow has no option treshold: there are examine, group, index"),
        ({**GROUP, "winnow_min_resemblance": "0"}, {}, "min_resemblance of winnow is a number, above 0 to 1, not '0'"),
        ({**GROUP, "winnow_members": "1.5"}, {}, "members of winnow is a number, 0 to 10,000, not '1.5'"),
        ({**GROUP, "winnow_examine": "10001"}, {}, "examine of winnow is a number, 1 to 10,000, not '10001'"),
        ({}, {"ext": {"winnow": True}}, "ext.winnow is an object"),
        ({}, {"ext": {"winnow": {"group": "yes"}}}, "group of winnow is true or false, not 'yes'"),
        ({}, {"ext": {"winnow": {"group": True, "members": True}}}, "members of winnow is a number"),
        ({}, {"ext": {"winnow": {"group": True, "index": 7}}}, "index of winnow is a name, not 7"),
        ({**GROUP, "from": "-1"}, {}, "from is a number of groups, not '-1'"),
        (GROUP, {"size": "many"}, "size is a number of groups, not 'many'"),
        (GROUP, {"stored_fields": "_none_"}, "a search without ids cannot be grouped"),
        ({**GROUP, "format": "yaml"}, {}, "answers in JSON"),
        ({**GROUP, "rest_total_hits_as_int": "true", "track_total_hits": "5"}, {}, "needs an exact total, or none"),
    ],
)
def test_wrong_options_are_refused(query: dict[str, str], body: Any, said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        request(query, body)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_grouped_is_refused(name: str) -> None:
    for query, body in ((GROUP, {name: 1}), ({**GROUP, name: "1"}, None)):
        with pytest.raises(QuestionError, match=f"a search with {name} cannot be grouped: "):
            request(query, body)


def test_odd_values_are_left_to_the_engine() -> None:
    """The engine says what is wrong with them."""
    for given, listed in ((1, [1]), (None, []), ({"a": 1}, [{"a": 1}]), (["b"], ["b"])):
        assert grouped({"docvalue_fields": "a"}, {"docvalue_fields": given}).body["docvalue_fields"] == [*listed, "a"]
    digits = "9" * 5_000  # more than Python reads
    found = grouped({"track_total_hits": digits})
    assert (found.parameters["track_total_hits"], found.body) == (digits, {})


@pytest.mark.parametrize(("start", "end"), [('{"a":', "}"), ("[", "]"), ('[{"a":', "}]")])
def test_a_body_is_not_read_to_any_depth(start: str, end: str) -> None:
    """Nothing that reads a search may come to the end of Python's stack, which would be an error of the gateway."""
    for depth in (1, 100, 200, 400, 600, 900, 1_100, 100_000):
        body = f'{{"query": {start * depth}1{end * depth}, "ext": {{"winnow": {{"group": true}}}}}}'.encode()
        levels = 1 + depth * len(end)
        if levels > MAX_DEPTH:
            with pytest.raises(NotJsonError):
                ClientSearch.of(PATH, GROUP, body)
            assert may_be_ours("search", body)
        else:
            found = ClientSearch.of(PATH, GROUP, body)
            assert found is not None
            _without_inner_hits(found.body["query"])


def test_a_search_without_winnow_is_left_alone() -> None:
    assert request({}, {"query": {}}) is None
    assert request({}, {"ext": {"winnow": {"group": False}}, "collapse": {}}) is None


def test_the_address_comes_before_the_body() -> None:
    body = {"size": 7, "from": 3, "ext": {"winnow": {"group": True, "min_resemblance": 0.9, "members": 2}, "other": 1}}
    read = request({"winnow_min_resemblance": "0.8", "size": "20", "winnow_index": "other"}, body)
    assert read is not None
    assert (read.start, read.size) == (3, 20)
    assert read.options == GroupOptions(min_resemblance=0.8, members=2, index="other")
    assert read.body == {"ext": {"other": 1}}


def test_all_pages_ask_the_same_copies_of_the_shards() -> None:
    first, second = (grouped(page, {"query": {"match_all": {}}}) for page in ({}, {"from": "10"}))
    assert first.address() == second.address()
    assert first.parameters["preference"].startswith("winnow-")
    assert grouped({"preference": "mine"}).address() == f"{PATH}?preference=mine"
    assert "preference" not in grouped({}, {"pit": {"id": "x"}}).parameters


@pytest.mark.parametrize("body", [b"{", b"[]", b"1", b"\xff"])
def test_what_is_no_json_object_is_for_the_engine_to_refuse(body: bytes) -> None:
    with pytest.raises(NotJsonError):
        ClientSearch.of(PATH, GROUP, body)


@pytest.mark.parametrize(
    ("kind", "body", "is_ours"),
    [
        ("search", b'{"ext": {"winnow": {}}}', True),
        ("search", b'{"ext": {"other": {}}, "query": {"term": {"tag": "winnow"}}}', False),
        ("search", b'{"query": {"term": {"tag": "winnow"}}', True),  # the engine says what is wrong with it
        ("search", b'{\n"ext":\n{"winnow": {}}}', True),
        ("msearch", b'{"index": "winnow"}\n{"query": {"term": {"tag": "winnow"}}}\n', False),
        ("msearch", b'{}\n{}\n\n{}\n{"ext": {"winnow": {}}}', True),
        ("search", b"", False),
    ],
)
def test_the_word_alone_is_not_ours(kind: Literal["search", "msearch"], body: bytes, is_ours: bool) -> None:
    assert may_be_ours(kind, body) is is_ours
