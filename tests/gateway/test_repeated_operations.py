"""Operations of a bulk request that are sent again: which, and where their answers belong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import given, strategies as st

from opensearch_winnow.gateway.writing.bulk_answer import BulkAnswer, ItemOutcome
from opensearch_winnow.gateway.writing.bulk_body import BulkItem, bulk_items
from opensearch_winnow.gateway.writing.sent_writes import positions_to_repeat
from tests.gateway.running_gateway import bulk_lines

Steps = list[tuple[str, str, int]]
Documents = dict[str, dict[str, Any]]

KINDS = ("index", "create", "change", "author", "script", "delete", "without fields")
operations = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from("ab"), st.integers(0, 9)), max_size=8)
stored = st.dictionaries(st.sampled_from("ab"), st.just({"body": "old", "count": 5, "author": "ada"}))


def bulk(steps: Steps) -> list[BulkItem]:
    lines: list[Any] = []
    for kind, id_, number in steps:
        key, document = {"_id": id_}, {"body": number, "count": 0, "plain": kind == "without fields"}
        lines += {
            "create": ({"create": key}, document),
            "change": ({"update": key}, {"doc": {"body": number}}),
            "author": ({"update": key}, {"doc": {"author": number}}),
            "script": ({"update": key}, {"script": "count"}),
            "delete": ({"delete": key},),
        }.get(kind, ({"index": key}, document))
    return bulk_items(bulk_lines(*lines))


def has_fields(item: BulkItem) -> bool:
    """Whether the gateway would give a document fields: here, if it writes a body."""
    source = msgspec.json.decode(item.source or b"{}")
    return not source.get("plain") and "body" in source.get("doc", source)


def execute(documents: Documents, items: Sequence[BulkItem], *, refusing: bool = False) -> list[ItemOutcome]:
    """Do what an engine does. One that is `refusing` has no mapping for winnow's fields."""
    statuses = []
    for item in items:
        assert item.id is not None
        source = msgspec.json.decode(item.source or b"{}")
        there = documents.get(item.id)
        if item.kind in ("update", "delete") and there is None:
            statuses.append(404)
        elif refusing and has_fields(item):
            statuses.append(400)
        elif item.kind == "create" and there is not None:
            statuses.append(409)
        else:
            match item.kind:
                case "delete":
                    del documents[item.id]
                case "update" if "script" in source:
                    documents[item.id] = {**(there or {}), "count": (there or {})["count"] + 1}
                case "update":
                    documents[item.id] = {**(there or {}), **source["doc"]}
                case _:
                    documents[item.id] = source
            statuses.append(200)
    return [ItemOutcome(status) for status in statuses]


def to_repeat(items: Sequence[BulkItem], outcomes: Sequence[ItemOutcome]) -> list[int]:
    keys = {i: ("i", item.id or "", None) for i, item in enumerate(items)}
    return positions_to_repeat(items, keys, outcomes, [i for i, item in enumerate(items) if has_fields(item)])


@given(steps=operations, before=stored)
def test_documents_are_what_they_would_be_if_nothing_had_been_rejected(steps: Steps, before: Documents) -> None:
    items = bulk(steps)
    expected, documents = dict(before), dict(before)
    execute(expected, items)
    outcomes = execute(documents, items, refusing=True)
    positions = to_repeat(items, outcomes)
    execute(documents, [items[i] for i in positions])
    assert documents == expected
    assert positions == sorted(set(positions))
    assert {i for i, each in enumerate(outcomes) if each.status == 400 and has_fields(items[i])} <= set(positions)


@given(steps=operations, before=stored)
def test_what_was_executed_is_not_repeated_because_of_a_faulty_document(steps: Steps, before: Documents) -> None:
    items = bulk([("index", "c", 1), *steps])
    outcomes = execute(dict(before), items, refusing=True)
    outcomes[0].status = 201  # the index has the mapping of winnow's fields
    assert all(not outcomes[i].was_executed for i in to_repeat(items, outcomes))


items = st.builds(
    lambda kind, status: {kind: {"_id": "1", "status": status, **({"error": {"type": "e"}} if status >= 400 else {})}},
    st.sampled_from(("index", "create", "update", "delete")),
    st.sampled_from((200, 201, 400, 409, 429)),
)


@st.composite
def repetitions(draw: st.DrawFn) -> tuple[list[Any], list[int], list[Any]]:
    first = draw(st.lists(items, min_size=1, max_size=8))
    numbers = draw(st.lists(st.integers(0, len(first) - 1), unique=True).map(sorted))
    return first, numbers, draw(st.lists(items, min_size=len(numbers), max_size=len(numbers)))


@given(repetitions())
def test_answers_are_put_in_their_places(made: tuple[list[Any], list[int], list[Any]]) -> None:
    first, numbers, again = made

    def answer(found: list[Any]) -> bytes:
        errors = any("error" in each for item in found for each in item.values())
        return msgspec.json.encode({"took": 7, "ingest_took": 3, "errors": errors, "items": found})

    whole = BulkAnswer(answer(first))
    assert whole.content() == answer(first)
    whole.replace(numbers, BulkAnswer(answer(again)))
    expected = list(first)
    for number, item in zip(numbers, again, strict=True):
        expected[number] = item
    content = msgspec.json.decode(whole.content())
    assert content == msgspec.json.decode(answer(expected)) | {"took": 14}
    assert list(content) == ["took", "ingest_took", "errors", "items"]
    assert [each.status for each in whole.outcomes] == [e["status"] for item in expected for e in item.values()]
