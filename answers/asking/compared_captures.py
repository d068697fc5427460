"""Chooses the captures of a comparison, and titles them by their times."""

from __future__ import annotations

from datetime import datetime

from opensearch_winnow.answers.asking.compared import ComparedText
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index


def capture_text(index: Index, name: str, at: datetime | None, *, dated: bool) -> ComparedText:
    """Return the text of a page by its URL or id; with `at`, the text of its last capture up to then.

    The title contains the capture time; for the latest capture of a URL, only if `dated`.
    """
    page = index.find(name, at, with_text=True)
    if not dated and page.url == name:
        return ComparedText.of_page(page, page.url)
    time = page.fetched_at
    written = "unknown date" if time is None else f"{time:%Y-%m-%d %H:%M:%S}".removesuffix(" 00:00:00")
    return ComparedText.of_page(page, f"{page.url} ({written})")


def last_two_texts(index: Index, name: str) -> tuple[ComparedText, ComparedText]:
    """Return the texts of the capture before the latest one of a page, and of the latest one."""
    latest = capture_text(index, name, None, dated=True)
    if latest.id == name:
        raise QuestionError(f"{name} is the id of one capture: name another to compare it with")
    cards = index.captures(name, limit=2)
    if len(cards) < 2:
        raise QuestionError(f"{index.name} has only one capture of {name}: name another page to compare it with")
    return capture_text(index, cards[1].id, None, dated=True), latest
