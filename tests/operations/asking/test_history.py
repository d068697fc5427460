"""The history of a URL, on both kinds of store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page, QuestionError, compare
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.history import history
from opensearch_winnow.operations.asking.page_comparer import TEXT_BATCH
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, Exclusions
from opensearch_winnow.stores.store import Store
from tests.operations.asking.test_page_comparer import RecordingStore
from tests.record_fixtures import record_of
from tests.test_index import near, prose

URL = "https://a.example/news"


def capture(day: int | None, text: str, url: str = URL, hour: int = 0) -> Record:
    time = None if day is None else datetime(2024, 1, day, hour, tzinfo=UTC)
    return record_of(Page(url, text=text, fetched_at=time))


def test_each_capture_is_compared_with_the_one_before_it(store: Store) -> None:
    first, second, other = prose(1, 200), near(prose(1, 200), 2, 5), prose(3, 200)
    texts = [second, first, first.upper(), second, other]
    days = [None, 1, 2, 3, 5]
    records = [capture(day, text) for day, text in zip(days, texts, strict=True)]
    store.write([*records[::-1], capture(4, other, "https://a.example/other")])
    found = history(store, URL, limit=10)
    assert [entry.card.id for entry in found] == [record.id for record in records]
    changed = compare(first, second).resemblance
    assert 0 < changed < 1
    assert [entry.resemblance for entry in found] == [None, changed, 1, changed, 0]
    latest = history(store, URL, limit=2)
    assert (list(latest), latest.earlier, found.earlier) == (found[-2:], True, False)
    assert not history(store, "https://a.example/gone", limit=3)
    only_changed = history(store, URL, limit=10, changed=True)
    assert (list(only_changed), only_changed.unchanged) == ([found[i] for i in (0, 1, 3, 4)], 1)
    assert history(store, URL, limit=2, changed=True).earlier


def test_captures_without_a_stored_text(store: Store) -> None:
    text = prose(1, 100)
    records = [capture(day, text) for day in (1, 2)]
    records += [capture(3, prose(3, 100)), capture(4, prose(3, 100)), capture(5, text)]
    for record in records[:4]:
        record.text = ""
    revisit = capture(6, text)  # a revisit of an unknown capture
    revisit.text, revisit.hashes = "", replace(revisit.hashes, text_digest="", shingle_digest="")
    store.write([*records, revisit])
    assert [entry.resemblance for entry in history(store, URL, limit=10)] == [None, 1, None, 1, None, None]


def test_boilerplate_does_not_count_as_resemblance(store: Store) -> None:
    menu = prose("menu", 60)
    store.write([capture(day, f"{menu} {prose(day, 60)}") for day in (1, 2)])
    assert history(store, URL, limit=2)[1].resemblance == pytest.approx(0.3, abs=0.1)
    exclusions = Exclusions([Boilerplate("menu", menu, "a.example")], store.scheme)
    assert history(store, URL, limit=2, exclusions=exclusions)[1].resemblance == 0


@pytest.mark.check
def test_texts_are_read_in_batches_and_not_for_equal_neighbours(tmp_path: Path) -> None:
    days = [day for day in range(1, 31) for _ in range(3)]
    texts = [prose(min(number, 80), 60) for number in range(90)]  # the last ten are the same
    records = [capture(day, text, hour=number % 3) for number, (day, text) in enumerate(zip(days, texts, strict=True))]
    with RecordingStore.open(tmp_path / "crawl.winnow", create=True) as store:
        store.texts_read, store.sketches_read = [], []
        store.write(records)
        found = [entry.resemblance for entry in history(store, URL, limit=1_000)]
        assert set(chain(*store.texts_read)) == {record.id for record in records[:81]}
        assert max(map(len, store.texts_read)) <= TEXT_BATCH + 1
        assert store.sketches_read == []
        store.texts_read = []
        assert history(store, URL, limit=5, changed=True).unchanged == 9
        assert set(chain(*store.texts_read)) == {record.id for record in records[75:81]}
    expected = [compare(one, other).resemblance for one, other in pairwise(texts)]
    assert found == [None, *expected]
    assert expected[80:] == [1.0] * 9


def test_an_index_returns_the_history_of_a_url(index: Index) -> None:
    index.add([Page(URL, text=prose(day, 60), fetched_at=datetime(2024, 1, day, tzinfo=UTC)) for day in (2, 1)])
    assert [entry.card.fetched_at.day for entry in index.history(URL) if entry.card.fetched_at] == [1, 2]
    with pytest.raises(QuestionError, match=r"has no page https://a\.example/news/; there is https://a\.example/news$"):
        index.history(f"{URL}/")
