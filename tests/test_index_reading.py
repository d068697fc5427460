"""What commands and screens read of a store, by the methods of Index."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Filters, Index, Page, QuestionError, StoreError
from opensearch_winnow.ingest.sources.split import Skipped
from opensearch_winnow.mappings.record import Record
from tests.refused import refused

MILL, HARBOUR = "https://www.mill.example/", "https://harbour.example/a"
OLD, NEW = (f"The miller of {year} keeps two sieves by the door, both dry." for year in (2023, 2024))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with Index.open(tmp_path_factory.mktemp("reading") / "pages.winnow") as index:
        pages = (Page(MILL, text=OLD, fetched_at=datetime(2023, 1, 1, tzinfo=UTC)), Page(HARBOUR, html="<p>Boats</p>"))
        index.add(pages, crawl="first")
        index.add([Page(MILL, text=NEW, title="Mill", fetched_at=datetime(2024, 1, 1, tzinfo=UTC))], crawl="second")
        yield index


def test_a_page_is_found_by_its_url_or_by_the_id_of_a_capture(index: Index) -> None:
    new, old = index.captures(MILL)
    assert index.find(MILL).id == index.page(MILL).id == new.id
    assert index.find(MILL, datetime(2023, 6, 1, tzinfo=UTC)).id == index.find(old.id, with_text=True).id == old.id
    refused(QuestionError, f"has no page http://mill.example/; there is {MILL}", index.find, "http://mill.example/")
    assert index.known_url("http://mill.example/") == MILL
    assert index.known_site("mill.example") == "www.mill.example"
    assert index.latest([MILL, HARBOUR, "https://gone.example/"]).keys() == {MILL, HARBOUR}
    assert index.latest([MILL])[MILL] == new


def test_captures_are_read_by_filters_or_by_ids(index: Index) -> None:
    new, old = index.captures(MILL)
    assert (index.count(), index.count(Filters(crawl="first"))) == (3, 2)
    assert [crawl.name for crawl in index.crawls()] == ["first", "second"]
    assert index.comparable_crawls() == index.default_crawls() == ("first", "second")
    assert [card.url for card in index.cards(order="url", limit=1)] == [HARBOUR]
    assert list(index.cards(ids=[old.id, "0" * 32, new.id])) == [old, new]
    assert [entry.card for entry in index.entries(Filters(crawl="second"))] == [new]
    assert [record.text for record in index.records(ids=[new.id, old.id])] == [NEW, OLD]
    assert index.texts([old.id, "0" * 32]) == {old.id: OLD}
    assert index.unknown_filters(Filters(site="x.example", crawl="first")) == [
        f"{index.name} has no page of the site x.example"
    ]


def test_a_page_is_prepared_as_for_the_store_and_not_stored(index: Index) -> None:
    prepared = index.prepare(Page("pasted text", html="<title>Boats</title><p>Boats"))
    assert isinstance(prepared, Record)
    assert prepared.text == index.page(HARBOUR).text
    assert isinstance(index.prepare(Page("pasted text", html="<p>")), Skipped)
    assert index.count() == 3


def test_a_store_with_a_shown_name_is_written_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "pages.winnow"
    with Index.open(path, shown_name="our pages") as index:
        index.add([Page(MILL, text=OLD)])
        assert index.add([Page(MILL, text=OLD)]).unchanged == 1
        index.verify()
        index.erase()
        refused(QuestionError, "^our pages has no page x$", index.page, "x")
    assert path.exists()
    gone = tmp_path / "gone.winnow"
    refused(StoreError, "^there is no store gone: ", Index.open, gone, create=False, shown_name="gone")


def test_the_mark_of_deletions_changes_with_each_of_them(tmp_path: Path) -> None:
    with Index.open(tmp_path / "pages.winnow") as index:
        index.add([Page(MILL, text=OLD), Page(HARBOUR, text=NEW)])
        marks = [index.last_deletion()]
        for url in (MILL, HARBOUR):
            index.delete(url, erase=False)
            marks.append(index.last_deletion())
        assert marks[0] is None
        assert len(set(marks)) == 3
