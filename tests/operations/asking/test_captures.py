"""Captures by id: reading, similar pages, and comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opensearch_winnow import Index, Page, QuestionError, compare
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store
from tests.operations.asking.test_history import capture
from tests.test_index import JANUARY, MARCH, near, prose

URL = "https://a.example/article"


@pytest.fixture
def index(file_index: Index) -> Index:
    """An index with an article that was rewritten, and a copy of each of its captures."""
    old, new = prose("old", 200), prose("new", 200)
    later = {URL: new, "https://b.example/old": near(old, 1, 3), "https://c.example/new": near(new, 1, 3)}
    file_index.add([Page(URL, text=old, fetched_at=JANUARY)])
    file_index.add(Page(url, text=text, fetched_at=MARCH) for url, text in later.items())
    return file_index


def test_a_capture_is_read_by_its_id_and_can_be_the_question(index: Index) -> None:
    cards = captures(index.store, URL)
    assert [index.capture(card.id).text for card in cards] == [prose("new", 200), prose("old", 200)]
    assert index.capture(cards[0].id) == index.page(URL)
    for unknown in ("0" * 32, "no id"):
        with pytest.raises(QuestionError, match=f"has no capture {unknown}: it may have been deleted"):
            index.capture(unknown)
    latest, earlier = (card.id for card in captures(index.store, URL))
    assert [match.url for match in index.similar(id=latest)] == ["https://c.example/new"]
    assert [match.url for match in index.similar(id=earlier)] == ["https://b.example/old"]
    assert index.similar(id=latest).score == "resemblance"
    by_url = index.similar(url=URL, min_resemblance=0, all_captures=True)
    assert index.similar(id=latest, min_resemblance=0, all_captures=True).matches == by_url.matches
    with pytest.raises(QuestionError, match="text or html; given: url and id"):
        index.similar(url=URL, id=latest)
    with pytest.raises(QuestionError, match="has no capture x"):
        index.similar(id="x")


def test_captures_are_compared(index: Index) -> None:
    latest, earlier = (index.capture(card.id) for card in captures(index.store, URL))
    copy = "https://b.example/old"
    found = index.compare(earlier, copy)
    assert replace(found, a=None, b=None) == compare(earlier.text, index.page(copy).text)
    assert (found.a and found.a.id, found.b and found.b.url, found.resemblance > 0.5) == (earlier.id, copy, True)
    assert index.compare(URL, copy).resemblance == index.compare(latest, copy).resemblance == 0
    latest.text = ""
    with pytest.raises(QuestionError, match="does not have the text of"):
        index.compare(latest, earlier)
    index.add([Page("https://c.example/", revisit_of="https://c.example/")])
    with pytest.raises(QuestionError, match="no text: it is a revisit, and the page that it repeats is not stored"):
        index.compare("https://c.example/", copy)


def test_unusual_ids_are_unknown(store: Store) -> None:
    store.write([capture(1, prose(1, 60))])
    for unusual in ("", "x" * 2_000, "é\ud800\0", "../x", "*"):
        assert store.read([unusual], Record) == {}
