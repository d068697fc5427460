"""Watches, on both kinds of store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from opensearch_winnow import Index, Page, QuestionError
from opensearch_winnow.operations.asking import watches
from opensearch_winnow.operations.asking.watches import MAX_SEEN, MAX_TEXT_CHARS
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.types import WatchError
from tests.test_index import near, prose

ARTICLE = prose("article", 200)
COPY = near(ARTICLE, 1, 3)
JANUARY, MARCH = (datetime(2024, month, 1, tzinfo=UTC) for month in (1, 3))


@pytest.fixture
def index(empty_index: Index) -> Index:
    texts = {"a.example/article": ARTICLE, "b.example/copy": COPY, "e.example/other": prose("other", 200)}
    empty_index.add(Page(f"https://{url}", text=text, fetched_at=JANUARY) for url, text in texts.items())
    return empty_index


def add(index: Index, url: str, text: str, time: datetime = MARCH) -> str:
    """Add a page and return the id of its capture."""
    index.add([Page(url, text=text, fetched_at=time)])
    return captures(index.store, url)[0].id


@pytest.mark.parametrize("question", [{"url": "https://a.example/article"}, {"text": ARTICLE}], ids=["url", "text"])
def test_later_matches_are_new_until_they_are_seen(index: Index, question: dict[str, Any]) -> None:
    before = datetime.now(UTC)
    watch = index.add_watch("article", **question)
    assert before <= watch.at <= datetime.now(UTC)
    assert list(index.watches()) == [watch]
    known = {match.card.id for match in index.check_watch("article").matches}
    assert len(known) == (1 if "url" in question else 2)
    assert index.check_watch("article").new == set()
    quoting = add(index, "https://d.example/quote", f"{prose('d', 50)} {ARTICLE[200:900]}")
    add(index, "https://f.example/less", f"{prose('f', 50)} {ARTICLE[:200]}")  # contains too little of the article
    report = index.check_watch("article")
    assert report.watch == watch
    assert {match.card.id for match in report.matches} == known | {quoting}
    assert report.new == {quoting}
    assert index.check_watch("article").new == {quoting}
    index.mark_seen("article", report.new)
    assert index.check_watch("article").new == set()


def test_a_page_that_is_crawled_again_is_not_new(index: Index) -> None:
    index.add_watch("article", text=ARTICLE)
    again = add(index, "https://b.example/copy", COPY)
    report = index.check_watch("article")
    assert again in {match.card.id for match in report.matches}
    assert report.new == set()
    # A page that contained nothing of it before, and does now, is new.
    other = add(index, "https://e.example/other", ARTICLE)
    assert index.check_watch("article").new == {other}
    later = add(index, "https://e.example/other", ARTICLE, MARCH + timedelta(1))
    assert index.check_watch("article").new == {later}
    index.mark_seen("article", [later])
    add(index, "https://e.example/other", ARTICLE, MARCH + timedelta(2))
    assert index.check_watch("article").new == set()


def test_existing_matches_can_be_reported_as_new(index: Index) -> None:
    index.add_watch("all", text=ARTICLE, seen=False, min_containment=0.95)
    report = index.check_watch("all")
    assert [match.url for match in report.matches] == ["https://a.example/article"]
    assert report.new == {report.matches[0].card.id}


def test_names(index: Index) -> None:
    first = index.add_watch("b", text=ARTICLE)
    with pytest.raises(WatchError, match="has a watch b already: replace it, or give another name"):
        index.add_watch("b", url="https://a.example/article")
    assert list(index.watches()) == [first]
    second = index.add_watch("b", url="https://a.example/article", min_containment=0.9, replace=True)
    third = index.add_watch("ä/?#", text=ARTICLE)
    assert list(index.watches()) == [second, third]
    with pytest.raises(WatchError, match="has no watch a; there is b, ä/"):
        index.check_watch("a")
    index.remove_watch("b")
    assert list(index.watches()) == [third]
    index.remove_watch("ä/?#")
    assert list(index.watches()) == []
    for missing in (index.remove_watch, index.check_watch, lambda name: index.mark_seen(name, [])):
        with pytest.raises(WatchError, match="has no watch b; there is none"):
            missing("b")


@pytest.mark.parametrize(
    ("watch", "error", "reason"),
    [
        ({"name": ""}, WatchError, "a name of 1 to 100 characters"),
        ({"name": "x" * 101}, WatchError, "a name of 1 to 100 characters"),
        ({"name": "\ud800"}, WatchError, "a name of 1 to 100 characters"),
        ({"text": "x" * (MAX_TEXT_CHARS + 1)}, WatchError, "has 1,000,001 characters, but at most 1,000,000"),
        ({"text": "too short"}, QuestionError, "needs at least 50"),
        ({"text": None}, QuestionError, "given: none"),
        ({"url": "https://a.example/article"}, QuestionError, "given: url and text"),
        ({"text": None, "url": "https://gone.example/"}, QuestionError, "has no page https://gone.example/"),
        ({"min_containment": 2}, QuestionError, "a share from 0 to 1, not 2"),
    ],
)
def test_invalid_watches_are_refused(
    file_index: Index, watch: dict[str, Any], error: type[Exception], reason: str
) -> None:
    add(file_index, "https://a.example/article", ARTICLE)
    with pytest.raises(error, match=reason):
        file_index.add_watch(**{"name": "x", "text": ARTICLE} | watch)
    assert list(file_index.watches()) == []


def test_watches_and_seen_captures_are_bounded(file_index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    here = add(file_index, "https://a.example/article", ARTICLE)
    file_index.add_watch("0", text=ARTICLE)
    # The captures seen first are forgotten.
    file_index.mark_seen("0", {f"{number:032x}" for number in range(MAX_SEEN - 1)})
    assert file_index.check_watch("0").new == set()
    file_index.mark_seen("0", {"f" * 32})
    assert file_index.check_watch("0").new == {here}
    monkeypatch.setattr(watches, "MAX_WATCHES", 2)
    file_index.add_watch("1", text=ARTICLE)
    with pytest.raises(WatchError, match="has 2 watches, the most it can have: remove one"):
        file_index.add_watch("2", text=ARTICLE)
    file_index.add_watch("1", text=ARTICLE, replace=True)
    assert [watch.name for watch in file_index.watches()] == ["0", "1"]
