"""Objects are read as widely as they are written, and what nobody changes stays as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.own_index.json_document import BYTE_ORDER_MARK, DocumentError, JsonDocument

KEYS = st.text(st.characters(), max_size=3)  # with half characters
OBJECTS = st.dictionaries(KEYS, st.none() | st.integers() | KEYS | st.lists(KEYS, max_size=2), max_size=5)


@given(OBJECTS, st.sampled_from([None, 2]), st.sampled_from([b"", BYTE_ORDER_MARK]), st.sampled_from([b"", b" \r\n"]))
def test_an_object_is_changed_where_it_is_asked_for(
    values: dict[str, Any], indent: int | None, beginning: bytes, end: bytes
) -> None:
    content = beginning + json.dumps(values, indent=indent).encode() + end
    document = JsonDocument(content)
    assert document.content() == content
    assert document.at([*values]) == values
    document.add({"added": {"number": 1}})
    close = content.rindex(b"}")
    assert document.content().startswith(content[:close])
    assert document.content().endswith(content[close:])
    for key in values:
        document.replace(key, b"12345678901234567890.10")
    assert document.content().count(b"12345678901234567890.10") == len(values)
    assert document.content().endswith(b"}" + end)
    assert json.loads(document.content().removeprefix(BYTE_ORDER_MARK)).keys() == values.keys() | {"added"}
    for key in values:
        document.remove(key)
    if values:
        assert document.content() == b'{"added":{"number":1}}' + end


def test_keys_with_a_dot_after_the_name_are_removed_too() -> None:
    document = JsonDocument(b'{"w": 1, "w.a": 2, "wa": 3, "a.w": 4}')
    document.remove("w")
    assert document.content() == b'{"wa":3,"a.w":4}'


def test_paths() -> None:
    document = JsonDocument(b'{"a": {"b": 1}, "c.d": 2, "e": 3}')
    assert document.at(["a.b", "c.d"]) == {"a": {"b": 1}, "c.d": 2}
    there = [path for path in ("a", "a.b", "c", "c.d", "c.d.e", "f") if document.leads_to(path)]
    assert there == ["a", "a.b", "c.d", "c.d.e"]


@pytest.mark.parametrize("written", ['"raw\ttab"', '"\\ud800"', "NaN", "1e999"])
def test_what_only_some_decoders_read_can_be_decoded(written: str) -> None:
    document = JsonDocument(b'{"text": %s}' % written.encode())
    assert document.at(["text"]).keys() == {"text"}
    document.add({"n": 1})
    assert document.content() == b'{"text": %s,"n":1}' % written.encode()


def test_a_number_with_too_many_digits_is_an_error_if_it_is_needed() -> None:
    document = JsonDocument(b'{"text": %s, "a": 1}' % (b"9" * 5_000))
    assert document.value("a") == 1
    with pytest.raises(DocumentError, match="too many digits"):
        document.at(["text"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[1]", "not a JSON object"),
        (b'{"a": 1} {}', "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b"\xff", "not UTF-8"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_object(content: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        JsonDocument(content)
