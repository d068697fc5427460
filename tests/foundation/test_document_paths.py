"""Tests how values are read along paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.foundation.document_paths import text_at, value_at, values_at

NAMES = st.sampled_from(["a", "b", "c"])


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        *[(each, [1]) for each in ({"a": {"b": {"c": 1}}}, {"a.b.c": 1}, {"a.b": {"c": 1}}, {"a": {"b.c": 1}})],
        ({"a": {"b": {"c": 1}}, "a.b": {"c": 2}, "a.b.c": 3}, [1, 2, 3]),
        ({"a": [{"b": {"c": 1}}, {"b": [{"c": 2}, {"c": [3, [4]]}]}]}, [1, 2, 3, 4]),
        ([{"a.b.c": 1}, {"a.b.c": 2}], [1, 2]),
        ({"a": {"b": {"c": {"d": 1}}}}, [{"d": 1}]),
        ({"a": {"b": {"c": [0, "", False]}}}, [0, "", False]),
        ({"a": {"b": {"c": [None, 1]}}}, [1]),
        *[(each, []) for each in ({"a": {"b": {"c": None}}}, {"a": {"b": 1}}, {}, None, "a.b.c")],
        ({"a": None, "ab": {"c": 1}, "a.bc": 2}, []),
    ],
)
def test_values_along_a_path(document: Any, expected: list[Any]) -> None:
    assert list(values_at(document, "a.b.c")) == expected
    assert value_at(document, "a.b.c") == (expected[0] if expected else None)


@given(st.lists(st.lists(NAMES, min_size=1, max_size=2).map(".".join), min_size=1, max_size=4), st.integers())
def test_a_key_may_be_several_steps(keys: list[str], value: int) -> None:
    document: Any = value
    for key in reversed(keys):
        document = {key: document}
    assert list(values_at(document, ".".join(keys))) == [value]
    assert list(values_at(document, ".".join([*keys, "a"]))) == []
    for end in range(1, len(keys)):
        assert isinstance(value_at(document, ".".join(keys[:end])), dict)


@given(st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=12))
def test_lists_give_all_their_values_in_order(nested: Any) -> None:
    def numbers(value: Any) -> list[int]:
        return [value] if isinstance(value, int) else [number for each in value for number in numbers(each)]

    assert list(values_at({"n": nested}, "n")) == numbers(nested)
    objects = [{"inner": {"n": number}} for number in numbers(nested)]
    assert list(values_at({"list": objects}, "list.inner.n")) == numbers(nested)


DOCUMENT = {"title": "The mill", "body": "It ground.", "year": 1850, "share": 0.5, "open": True}
DOCUMENT |= {"parts": [{"text": "one"}, {"text": ["two", "", None]}, {"note": "no text"}, {"text": "three"}]}
DOCUMENT |= {"empty": "", "nothing": None}


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["title", "body"], "The mill\nIt ground."),
        (["body", "title"], "It ground.\nThe mill"),
        (["parts.text"], "one\ntwo\nthree"),
        (["title", "nothing", "empty", "missing", "body"], "The mill\nIt ground."),
        (["year", "share", "open"], "1850\n0.5\ntrue"),
        (["parts"], ""),
        ([], ""),
    ],
)
def test_text_at_paths(paths: list[str], expected: str) -> None:
    assert text_at(DOCUMENT, paths) == expected
