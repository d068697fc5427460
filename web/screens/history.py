"""The history screen: the captures of a page's URL, and how much each differs from the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.history import HistoryDocument, history_document, history_summary
from opensearch_winnow.index import Index
from opensearch_winnow.web.capture_calendar import capture_calendar
from opensearch_winnow.web.parameters import integer
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_CAPTURES = 1_000  # the texts of those that differ are compared


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"])
    document = history_of(index, page.url, request["limit"])
    return ScreenAnswer(document, lambda: {"page_id": page.id, **history_values(document, page.id)})


def history_of(index: Index, url: str, limit: int) -> HistoryDocument:
    return history_document(url, index.history(url, limit=limit + 1), limit=limit)


def history_values(document: HistoryDocument, page: str) -> Mapping[str, Any]:
    """Return what the history section shows for capture `page`; it and its neighbour are preselected to compare."""
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
    summary="The captures of a page's URL, each with its resemblance to the one before it",
    answer=answer,
    returns=HistoryDocument,
    table=table,
    parameters=(
        integer("limit", "number of captures, the latest", default=MAX_CAPTURES, minimum=1, maximum=MAX_CAPTURES),
    ),
)
