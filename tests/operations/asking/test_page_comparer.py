"""Pages of a store are compared exactly if both texts are there, equal texts once, and otherwise by their sketches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

import pytest

from opensearch_winnow import Page, compare
from opensearch_winnow.foundation.cancellation import CancelledError, cancelled_by
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.page_comparer import TEXT_BATCH, PageComparer
from opensearch_winnow.operations.asking.side_cache import SideCache
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, Exclusions
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import Fields, Text
from tests.record_fixtures import record_of
from tests.test_index import near, prose

TEXT = prose(1, 300)
COPY = near(TEXT, 2, 20)


class RecordingStore(EmbeddedStore):
    """A store that records which texts and sketches were read."""

    texts_read: list[list[str]]
    sketches_read: list[list[str]]

    def read(self, ids: Iterable[str], fields: type[Fields]) -> dict[str, Fields]:
        ids = list(ids)
        if fields is Text:
            self.texts_read.append(ids)
        elif fields is Sketches:
            self.sketches_read.append(ids)
        return super().read(ids, fields)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordingStore]:
    with RecordingStore.open(tmp_path / "crawl.winnow", create=True) as opened:
        opened.texts_read, opened.sketches_read = [], []
        yield opened


def record(url: str, text: str, *, stored: bool = True) -> Record:
    return record_of(Page(url, text=text), text=text if stored else "")


def written(store: RecordingStore, *records: Record) -> list[Card]:
    store.write(records)
    cards = store.read([each.id for each in records], Card)
    return [cards[each.id] for each in records]


def test_two_texts_are_compared_exactly_or_estimated(store: RecordingStore) -> None:
    cards = written(store, record("https://a.example/1", TEXT), record("https://a.example/3", COPY))
    comparer = PageComparer(store)
    comparer.prepare(cards)
    found, both = comparer.likeness(*cards), compare(TEXT, COPY)
    assert found == (both.resemblance, both.containment, both.contained, "exact", 0.0)
    assert not store.sketches_read
    (first, third), (second,) = cards, written(store, record("https://a.example/2", COPY, stored=False))
    comparer = PageComparer(store)
    comparer.prepare([first, second])
    found = comparer.likeness(first, second)
    assert found.kind == "estimate"
    assert abs(found.resemblance - both.resemblance) < 5 * found.error
    small = PageComparer(store, max_shingles=first.shingle_count)
    small.prepare([first, third])
    assert small.side(first) is not None
    assert small.side(third) is None
    assert small.likeness(first, third) == found


@pytest.mark.check
def test_equal_texts_of_a_site_are_read_once_and_in_batches(store: RecordingStore) -> None:
    texts = [prose(number, 30) for number in range(TEXT_BATCH + 6)]
    records = [record(f"https://{site}.example/{n}", text) for site in "aab" for n, text in enumerate(texts)]
    cards = written(store, *records, record("https://a.example/copy", texts[0].upper()))
    comparer = PageComparer(store)
    comparer.prepare(cards)
    assert [len(each) for each in store.texts_read] == [TEXT_BATCH, TEXT_BATCH, 12]
    assert comparer.side(cards[0]) is comparer.side(cards[-1]) is not comparer.side(cards[-2])
    comparer.prepare(cards)
    assert len(store.texts_read) == 3


def test_boilerplate_counts_in_neither_way(store: RecordingStore) -> None:
    menu = prose("menu", 300)
    pages = [(f"https://a.example/{day}", f"{menu} {prose(day, 300)}") for day in (1, 2)]
    with_texts = written(store, *(record(*page) for page in pages))
    exclusions = Exclusions([Boilerplate("menu", menu, "a.example")], store.scheme)
    for excluded, expected in ((Exclusions(scheme=store.scheme), 1 / 3), (exclusions, 0)):
        exact, estimated = PageComparer(store, excluded), PageComparer(store, excluded)
        exact.prepare(with_texts)
        assert exact.likeness(*with_texts).resemblance == pytest.approx(expected, abs=0.05)
        assert estimated.likeness(*with_texts).resemblance == pytest.approx(expected, abs=0.2)


def test_the_sides_of_pairs_have_the_texts_of_their_own_pages(store: RecordingStore) -> None:
    texts = [TEXT, TEXT.upper(), COPY]
    cards = written(store, *(record(f"https://a.example/{n}", text) for n, text in enumerate(texts)))
    (unread,) = written(store, record("https://a.example/unread", TEXT, stored=False))
    comparer = PageComparer(store, sides=SideCache(store.scheme))
    first, second, third = comparer.sides_of_pairs([(cards[0], cards[1]), (cards[1], cards[2]), (cards[0], unread)])
    assert third is None
    assert first
    assert second
    assert [side.canonical.text for side in (*first, *second)] == [texts[0], texts[1], texts[1], texts[2]]
    assert first[1] is second[0]


def test_after_the_deadline_nothing_is_read_and_pages_are_counted(store: RecordingStore) -> None:
    cards = written(store, *(record(f"https://a.example/{n}", prose(n, 30)) for n in range(5)))
    comparer = PageComparer(store)
    comparer.deadline = time.perf_counter() - 1
    assert list(comparer.texts([cards[:3], cards[3:]])) == []
    assert comparer.skipped == 5
    assert not store.texts_read
    stop = Event()
    stop.set()
    with cancelled_by(stop), pytest.raises(CancelledError):
        comparer.prepare(cards)
