"""An update is understood as engines execute it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.document_update import DocumentUpdate
from opensearch_winnow.ingest.own_index.json_document import DocumentError

STORED = AttachedDocument("1", {"content": {"head": "A", "body": "B"}, "tags": ["x"]}, index_name="a", version=3)
PATHS = ["content.head", "content.body"]


def update(**body: Any) -> DocumentUpdate:
    return DocumentUpdate(json.dumps(body).encode())


@pytest.mark.parametrize(
    ("doc", "touched", "after"),
    [
        ({"content": {"body": "C"}}, PATHS, {"head": "A", "body": "C"}),  # objects are merged
        ({"content": ["C"]}, PATHS, ["C"]),  # all else is replaced
        ({"content": {"body": "B"}}, PATHS, None),
        ({"tags": ["y"]}, [], None),
        ({"content.bodies": "C"}, [], None),
    ],
)
def test_a_partial_document_is_applied(doc: dict[str, Any], touched: list[str], after: Any) -> None:
    found = update(doc=doc)
    assert found.touched(PATHS) == touched
    applied = found.applied(STORED, PATHS)
    assert (applied and applied.source["content"]) == after
    assert applied is None or (applied.version, applied.next_version, applied.source["tags"]) == (3, 4, ["x"])


def test_a_dotted_name_touches_one_path() -> None:
    assert update(doc={"content.body": "C"}).touched(PATHS) == ["content.body"]
    assert update(upsert={"content.body": "C"}).touched(PATHS) == []


def test_a_body_stays_as_it_was_until_a_part_changes() -> None:
    body = b'{ "doc": {"n": 1.50},  "upsert": {} }\r\n'
    found = DocumentUpdate(body)
    assert found.content() == body
    assert found.upsert is not None
    found.upsert.add({"winnow": {}})
    assert json.loads(found.content()) == {"doc": {"n": 1.5}, "upsert": {"winnow": {}}}
    assert b"1.50" in found.content()


def test_only_a_script_can_change_an_upsert() -> None:
    assert not update(upsert={}, scripted_upsert=True).scripts_upsert
    assert not update(upsert={}, script="x").scripts_upsert
    assert update(upsert={}, script="x", scripted_upsert=True).scripts_upsert


@pytest.mark.parametrize("body", [b"[]", b'{"doc": 1}', b'{"doc": {}, "upsert": null}'])
def test_a_part_that_is_not_an_object_is_refused(body: bytes) -> None:
    with pytest.raises(DocumentError):
        DocumentUpdate(body)
