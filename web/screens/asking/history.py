"""The history screen: the captures of a page's URL, and how much each differs from the one before."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from opensearch_winnow.answers.asking.few_words import FewWords, few_words
from opensearch_winnow.answers.asking.history import history_summary
from opensearch_winnow.answers.asking.page_answer import page_facts
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.history import History, HistoryQuestion
from opensearch_winnow.web.charts.capture_calendar import capture_calendar
from opensearch_winnow.web.charts.capture_timeline import capture_timeline
from opensearch_winnow.web.page_header import HISTORY, other_page_tabs, page_subject
from opensearch_winnow.web.parameters import of_options
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_CAPTURES = 1_000  # the texts of those that differ are compared
MAX_CHANGES_IN_WORDS = 50  # each reads two texts: about 20 ms


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"])
    history = index.history(request.options(HistoryQuestion, url=page.url))
    return ScreenAnswer(history, lambda: _template_values(index, page, history))


def _template_values(index: Index, page: Record, history: History) -> Mapping[str, Any]:
    """Return the values that the screen shows; capture `page` and its neighbour are preselected to compare."""
    ids = [each.card.id for each in history]
    at = ids.index(page.id) if page.id in ids else len(ids) - 1
    return {
        "subject": page_subject(page_facts(page, index.scheme), index.scheme, ids[-1]),
        "tabs": other_page_tabs(page.id, HISTORY),
        "history_summary": history_summary(history),
        "calendar": capture_calendar(history),
        "timeline": capture_timeline(history),
        "before": {after: earlier for earlier, after in pairwise(ids)},
        "changes": _changes(index, history),
        "chosen": (ids[at - 1], ids[at]) if at else (ids[0], ids[min(1, len(ids) - 1)]),
    }


def _changes(index: Index, history: History) -> dict[str, FewWords]:
    """Return a few changed words of each of the latest changes, by the id of the capture."""
    changed = [
        (earlier.card.id, after.card.id)
        for earlier, after in pairwise(history)
        if after.resemblance is not None and after.resemblance < 1
    ][-MAX_CHANGES_IN_WORDS:]
    texts: dict[str, str] = {}
    found = {}
    for earlier, after in changed:
        for id_ in {earlier, after} - texts.keys():
            texts[id_] = index.capture(id_).text
        found[after] = few_words(texts.pop(earlier), texts[after])
    return found


SCREEN = Screen(
    name="history",
    path="/page/{id}/history",
    api="/pages/{id}/history",
    summary="The captures of a page's URL, each with its resemblance to the one before it",
    answer=answer,
    returns=History,
    heavy=True,
    parameters=of_options(HistoryQuestion, at_most={"limit": MAX_CAPTURES}),
)
