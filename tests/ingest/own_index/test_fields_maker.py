"""Documents get winnow's fields, and stay as they are otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme
from opensearch_winnow.clients import winnow_fields
from opensearch_winnow.ingest.own_index.fields_filter import FieldsFilter
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.ingest.own_index.json_document import DocumentError
from opensearch_winnow.mappings.attached_fields import WINNOW_FIELDS, AttachedFields

TEXT = "The miller takes the grain to the mill, and two days later the flour to the baker in the town. " * 5
FILTER = FieldsFilter(FieldsMaker(AttachedFields(text=("text",)), Scheme()))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


DOCUMENTS = st.dictionaries(st.text().filter(lambda name: name not in ("text", "winnow", "winnow.cluster")), VALUES)


@given(DOCUMENTS, st.sampled_from([None, 0, 2]), st.booleans(), st.sampled_from(["", "\n", " \r\n"]))
def test_all_bytes_stay_and_the_fields_follow(
    document: dict[str, Any], indent: int | None, ascii_only: bool, end: str
) -> None:
    written = json.dumps({"text": TEXT, **document}, indent=indent, ensure_ascii=ascii_only) + end
    line = written.encode("utf-8", "replace")
    made, outcome = FILTER.added(line)
    assert outcome == "done"
    close = line.rindex(b"}")
    assert made.startswith(line[:close])
    assert made.endswith(line[close:])
    with_fields = json.loads(made)
    assert with_fields.pop("winnow") == {"stamp": Scheme().id, **winnow_fields(TEXT)}
    assert with_fields == json.loads(line)


def test_old_fields_are_replaced() -> None:
    line = b'{"winnow": {"stamp": "x"}, "n": 12345678901234567890.10, "winnow.cluster": "3", "text": "a b c"}\r\n'
    made, _ = FILTER.added(line, "7")
    assert made.endswith(b"}\r\n")
    assert made.count(b'"winnow"') == made.count(b'"winnow.cluster"') == 1
    assert b"12345678901234567890.10" in made
    assert json.loads(made)["winnow"]["stamp"] == Scheme().id
    assert json.loads(made)["winnow.cluster"] == "7"


@pytest.mark.parametrize(
    "line", [b"{}", b'{"text": " ", "body": "words"}', b'{"text": null, "winnow": {"stamp": "x"}}']
)
def test_a_document_without_text_has_empty_hashes_and_a_cluster(line: bytes) -> None:
    content, outcome = FILTER.added(line, "7")
    made = json.loads(content)
    assert outcome == "no_text"
    assert made["winnow.cluster"] == "7"
    assert made["winnow"].items() >= {"stamp": Scheme().id, **winnow_fields("")}.items()


def test_texts_in_objects_html_address_time_and_id() -> None:
    fields = AttachedFields(text=("head", "content.body"), url="link", time="at", html=True, below="copies")
    texts = {"head": "<b>One</b>", "content": [{"body": "<p>two words</p>"}, {"body": "and more"}]}
    source = {**texts, "link": "https://Example.org/a", "at": "2024-05-06T00:00:00Z", "number": 4711}
    made = json.loads(
        FieldsFilter(FieldsMaker(fields, Scheme()), id_field="number").added(json.dumps(source).encode())[0]
    )
    ours = made["copies"]
    assert ours["text_digest"] == winnow_fields("One\ntwo words\nand more")["text_digest"]
    assert (ours["url"], ours["site"], ours["fetched_us"]) == ("https://Example.org/a", "example.org", 1714953600000000)
    assert made["copies.cluster"] == "4711"
    assert ours.keys() <= WINNOW_FIELDS.keys()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "not JSON"),  # tests of `JsonDocument` have more
        (b'{"text": "caf\xe9"}', "not UTF-8"),
        *((b'{"text":%sNaN%s}' % (b"[" * deep, b"]" * deep), "nested too deeply") for deep in (990, 5000)),
    ],
)
def test_what_is_no_document(line: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        FILTER.added(line)


def test_what_only_some_decoders_read() -> None:
    made, _ = FILTER.added(b'{"text": "half a \\ud800 character", "n": NaN, "big": 1e999}')
    assert b'"n": NaN, "big": 1e999,"winnow":{' in made
