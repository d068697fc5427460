"""The versions screen: the texts that a page and its copies had over time, and the copies that are stale."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from opensearch_winnow.answers.asking.page_answer import page_facts
from opensearch_winnow.answers.asking.versions import versions_summary
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.versions import Versions, VersionsQuestion
from opensearch_winnow.web.page_header import VERSIONS, other_page_tabs, page_subject
from opensearch_winnow.web.parameters import of_options
from opensearch_winnow.web.pasted_texts import API_HINT, text_from_form
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.asking.page import URL_AND_TIME, page_by_url
from opensearch_winnow.web.screens.asking.paste import SentText

MAX_LISTED = 10_000
MAX_PAGES_SHOWN = 5  # of a version, before the rest is folded
MIN_SPAN = 3.0  # per cent: a version that was seen once is still visible


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"])
    versions = _versions(index, request, id=page.id)
    return ScreenAnswer(versions, lambda: _template_values(index, page, versions))


def answer_by_url(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(_versions(index, request, id=page_by_url(index, request).id))


def answer_text(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(_versions(index, request, text=text_from_form(index, request.form, hint=API_HINT).text))


def _versions(index: Index, request: ScreenRequest, **of: str) -> Versions:
    return index.versions(request.options(VersionsQuestion, max_seconds=request.state.max_seconds, **of))


def _template_values(index: Index, page: Record, versions: Versions) -> Mapping[str, Any]:
    (latest,) = index.captures(page.url, limit=1)
    return {
        "subject": page_subject(page_facts(page, index.scheme), index.scheme, latest.id),
        "tabs": other_page_tabs(page.id, VERSIONS),
        "heading": versions_summary(versions),
        "before": {after.id: earlier.id for earlier, after in pairwise(versions)},
        "spans": seen_spans(versions),
        "max_pages_shown": MAX_PAGES_SHOWN,
    }


def seen_spans(versions: Versions) -> dict[str, tuple[float, float]]:
    """Return the start and the length of each version, by id, in per cent of the time from the first capture to the
    last; empty if all captures have the same time."""
    times = {each.id: (each.first_seen, each.last_seen) for each in versions if each.first_seen and each.last_seen}
    start = min((first for first, _ in times.values()), default=None)
    end = max((last for _, last in times.values()), default=None)
    if start is None or end is None or start == end:
        return {}
    length = (end - start).total_seconds()
    xs = {id_: [100 * (each - start).total_seconds() / length for each in pair] for id_, pair in times.items()}
    return {id_: (min(first, 100 - MIN_SPAN), max(last - first, MIN_SPAN)) for id_, (first, last) in xs.items()}


PARAMETERS = of_options(VersionsQuestion, "min_resemblance", "limit", at_most={"limit": MAX_LISTED})
SCREEN = Screen(
    name="versions",
    path="/page/{id}/versions",
    api="/pages/{id}/versions",
    summary="The versions of a page and its copies, the oldest first",
    answer=answer,
    returns=Versions,
    heavy=True,
    parameters=PARAMETERS,
)
BY_URL = Screen(
    name="versions_of_url",
    path="",
    api="/versions",
    summary="The versions of the page of a URL and its copies, the oldest first",
    answer=answer_by_url,
    returns=Versions,
    heavy=True,
    parameters=(*URL_AND_TIME, *PARAMETERS),
)
OF_TEXT = Screen(
    name="versions_of_text",
    path="",
    api="/versions",
    summary="The versions of a text sent with the request, which is not kept, the oldest first",
    answer=answer_text,
    returns=Versions,
    heavy=True,
    sends=SentText,
    parameters=PARAMETERS,
)
