"""Every kind of store finds revisits by what they repeat, and sets their texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import TEXT_FIELDS, Record
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.store import Store
from tests.stores.store_questions import search

Make = Callable[..., Record]


def test_revisits_are_found_by_what_they_repeat(store: Store, record: Make) -> None:
    revisit = {"content_digest": "", "duplicate": "revisit"}
    store.write(
        [
            record(1, payload_digest="sha1:A"),
            record(2, payload_digest="sha1:A", duplicate_of="https://a.org/", **revisit),
            record(3, duplicate_of="https://b.org/", **revisit),
            record(4, duplicate="content", duplicate_of="https://b.org/"),
        ]
    )
    for keys, numbers in (
        (["sha1:A"], [2]),
        (["https://b.org/"], [3]),
        (["https://b.org/", "sha1:A"], [2, 3]),
        (["https://example.org/2", "sha1:B"], []),
    ):
        found = store.scan(Card, Selection(repeats=tuple(keys)))
        assert [card.id for card in found] == [record(number).id for number in numbers]


def test_texts_are_set_if_the_content_is_the_same(store: Store, record: Make) -> None:
    store.write([record(1, content_digest="", cluster="0" * 32), record(2), record(3)])
    text = {name: getattr(record(9), name) for name in TEXT_FIELDS}
    wanted = [replace(record(number, content_digest="", crawl="other"), **text) for number in (1, 2)]
    assert store.set_texts([*wanted, record(4)]) == 2
    assert list(store.scan(Record)) == [
        replace(record(1, content_digest="", cluster="0" * 32), **text),
        record(2),  # its content is another one by now
        record(3),
    ]
    assert search(store, Words.of("9"), Filters()).total == 1
    store.set_texts([replace(record(1, content_digest=""), title=None, canonical=None)])
    assert store.read([record(1).id], Record)[record(1).id].title is None
