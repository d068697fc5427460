"""The history of a page: the captures of its URL, and how much each has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.history import HistoryDocument, history_document, history_summary
from opensearch_winnow.index import Index
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.capture_calendar import capture_calendar
from opensearch_winnow.web.parameters import number
from opensearch_winnow.web.screen import Answered, Cell, Screen

MOST = 1_000  # captures: of those that differ the texts are compared


def answer(index: Index, asked: Asked) -> Answered:
    page = index.capture(asked["id"])
    document = history_of(index, page.url, asked["limit"])
    return Answered(document, lambda: {"page_id": page.id, **history_shown(document, page.id)})


def history_of(index: Index, url: str, limit: int) -> HistoryDocument:
    return history_document(url, index.history(url, limit=limit + 1), limit=limit)


def history_shown(document: HistoryDocument, page: str) -> Mapping[str, Any]:
    """What the section shows that is about this capture: two of them are chosen already."""
    ids = [each["id"] for each in document["captures"]]
    at = ids.index(page) if page in ids else len(ids) - 1
    return {
        "history_summary": history_summary(document),
        "calendar": capture_calendar(document["captures"]),
        "chosen": (ids[at - 1], ids[at]) if at else (ids[0], ids[min(1, len(ids) - 1)]),
    }


def table(document: HistoryDocument) -> Iterator[Sequence[Cell]]:
    yield "fetched_at", "resemblance", "crawl", "url", "title", "id"
    for each in document["captures"]:
        yield each["fetched_at"], each["resemblance"], each["crawl"], document["url"], each["title"], each["id"]


SCREEN = Screen(
    name="history",
    path="/page/{id}/history",
    api="/pages/{id}/history",
    about="The captures of a page's URL, each with its resemblance to the one before it",
    answer=answer,
    returns=HistoryDocument,
    table=table,
    parameters=(number("limit", "captures, the latest", default=MOST, least=1, most=MOST),),
)
