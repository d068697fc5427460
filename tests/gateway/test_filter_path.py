"""`filter_path` leaves the same parts of an answer as the engine's own."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway import filter_path
from opensearch_winnow.gateway.filter_path import filtered
from opensearch_winnow.stores.engine.running import Running
from tests.fuzz.gateway_targets import plainly_filtered
from tests.gateway.running_gateway import ask
from tests.stores.opensearch.own_articles import OwnIndex

PATHS = [
    *("hits.hits._source", "hits.hits._id,hits.total", "hits.hits, -hits.hits._source", "h*.h*._s*ce.body"),
    *("hits.hits._source.parts.a", "hits.hits._source.dotted\\.name", "hits.hits._source.dotted.name", "hits.hits."),
    *("*", "*.total.value", "*.*._id", "**", "**._id", "hits.**._id", "**.**.body", "took.**"),
    *("-**", "-**._id", "-hits", "-hits.hits.*", "-hits.hits._source.*", "-hits.hits._source.parts.a"),
    *("-_shards,-hits.total", "nothing", "timed_out.nothing", "hits.[h]its", "hits.h?ts", "", ","),
]


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "took"}


def test_the_same_parts_are_left_as_by_the_engine(engine: Running, plain: OwnIndex) -> None:
    documents = [
        {"body": "No egg.", "parts": [{"a": 1, "b": [2]}, {"a": 3}, {}], "dotted.name": "x", "empty": []},
        {"body": "A hen.", "parts": {"b": {}}},
    ]
    for number, document in enumerate(documents):
        ask(engine.url, "PUT", f"/{plain.name}/_doc/{number}?refresh=true", document)
    whole = ask(engine.url, "GET", f"/{plain.name}/_search").body
    for path in PATHS:
        address = f"/{plain.name}/_search?filter_path={path.replace(' ', '%20')}"
        expected = without_time(ask(engine.url, "GET", address).json())
        assert (path, without_time(json.loads(filtered(whole, path)))) == (path, expected)


def test_numbers_keep_their_digits() -> None:
    assert filtered(b'{"a":{"n":1.000000000000000000010,"m":2}}', "a.n") == b'{"a":{"n":1.000000000000000000010}}'


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1), "b": [nested(depth - 1), 1]} if depth else {"a" * 200: 1}


@pytest.mark.parametrize(
    "path",
    ["*a" * 1_000 + "b", "**." * 1_000 + "c", "**.a.b." * 400 + "c", "-" + "**.*." * 400 + "c", "**.a," * 500],
    ids=range(5),
)
def test_no_path_takes_long(path: str) -> None:
    """The number of ways in which such a path fits grows with a power of its length."""
    content = json.dumps(nested(5)).encode()
    assert len(filtered(content, path)) <= len(content)


def test_a_path_that_takes_too_many_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_path, "MAX_FILTER_STEPS", 1_000)
    content = json.dumps([{f"{number}": 1} for number in range(2_000)]).encode()
    with pytest.raises(QuestionError, match="takes too long"):
        filtered(content, "**.a,**.b")


def test_an_answer_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(QuestionError, match="nested so deeply"):
        filtered(b'{"a":' * 2_000 + b"1" + b"}" * 2_000, "**.b")


NAMES = st.sampled_from(["a", "b", "ab", "aab"])
PATTERN = st.lists(st.sampled_from(["a", "b", "ab", "*", "a*", "*b", "a*b", "*a*", "**"]), min_size=1, max_size=5)
PATTERNS = st.tuples(st.sampled_from(["", "", "-"]), PATTERN.map(".".join)).map("".join)


def values(depth: int) -> st.SearchStrategy[Any]:
    leaf = st.integers(0, 3)
    if not depth:
        return leaf
    inner = values(depth - 1)
    return leaf | st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)


@given(st.dictionaries(NAMES, values(3), max_size=3), st.lists(PATTERNS, min_size=1, max_size=3).map(",".join))
def test_paths_lead_to_what_they_describe(content: dict[str, Any], paths: str) -> None:
    assert json.loads(filtered(json.dumps(content).encode(), paths)) == plainly_filtered(content, paths)


@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_names_fit_patterns_as_file_names_do(pattern: str, name: str) -> None:
    assert (filtered(json.dumps({name: 1}).encode(), pattern or "c") != b"{}") == fnmatchcase(name, pattern or "c")
