"""The history screen: the captures of a page's URL, and how much each differs from the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from opensearch_winnow.answers.asking.few_words import FewWords, few_words
from opensearch_winnow.answers.asking.history import HistoryDocument, MomentDocument, history_document, history_summary
from opensearch_winnow.answers.asking.page_document import page_facts
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.web.charts.capture_calendar import capture_calendar
from opensearch_winnow.web.charts.capture_timeline import capture_timeline
from opensearch_winnow.web.page_header import HISTORY, other_page_tabs, page_subject
from opensearch_winnow.web.parameters import integer
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_CAPTURES = 1_000  # the texts of those that differ are compared
MAX_CHANGES_IN_WORDS = 50  # each reads two texts: about 20 ms


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"])
    document = history_of(index, page.url, request["limit"])
    return ScreenAnswer(document, lambda: _template_values(index, page, document))


def history_of(index: Index, url: str, limit: int) -> HistoryDocument:
    return history_document(url, index.history(url, limit=limit + 1), limit=limit)


def _template_values(index: Index, page: Record, document: HistoryDocument) -> Mapping[str, Any]:
    """Return what the screen shows of capture `page`; it and its neighbour are preselected to compare."""
    captures = document["captures"]
    ids = [each["id"] for each in captures]
    at = ids.index(page.id) if page.id in ids else len(ids) - 1
    return {
        "subject": page_subject(page_facts(page, index.scheme), index.scheme, ids[-1]),
        "tabs": other_page_tabs(page.id, HISTORY),
        "history_summary": history_summary(document),
        "calendar": capture_calendar(captures),
        "timeline": capture_timeline(captures),
        "before": {after: earlier for earlier, after in pairwise(ids)},
        "changes": _changes(index, captures),
        "chosen": (ids[at - 1], ids[at]) if at else (ids[0], ids[min(1, len(ids) - 1)]),
    }


def _changes(index: Index, captures: Sequence[MomentDocument]) -> dict[str, FewWords]:
    """Return, by the id of a capture, a few words of what changed; of the latest changes only."""
    changed = [
        (earlier["id"], after["id"])
        for earlier, after in pairwise(captures)
        if after["resemblance"] is not None and after["resemblance"] < 1
    ][-MAX_CHANGES_IN_WORDS:]
    texts: dict[str, str] = {}
    found = {}
    for earlier, after in changed:
        for id_ in {earlier, after} - texts.keys():
            texts[id_] = index.capture(id_).text
        found[after] = few_words(texts.pop(earlier), texts[after])
    return found


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
    heavy=True,
    table=table,
    parameters=(
        integer("limit", "number of captures, the latest", default=MAX_CAPTURES, minimum=1, maximum=MAX_CAPTURES),
    ),
)
