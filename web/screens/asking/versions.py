"""The versions screen: the texts that a page and its copies had over time, and the copies that are stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from opensearch_winnow.answers.asking.page_document import page_facts
from opensearch_winnow.answers.asking.versions import (
    VersionDocument,
    VersionsDocument,
    versions_document,
    versions_summary,
)
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.web.page_header import VERSIONS, other_page_tabs, page_subject
from opensearch_winnow.web.parameters import integer, percentage
from opensearch_winnow.web.pasted_texts import API_HINT, text_from_form
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.asking.page import URL_AND_TIME, page_by_url
from opensearch_winnow.web.screens.asking.paste import SentText

MAX_LISTED = 10_000
MAX_PAGES_SHOWN = 5  # of a version, before the rest is folded
MIN_SPAN = 3.0  # per cent: a version that was seen once is still visible


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    page = index.capture(request["id"])
    document = _document(index, request, id_=page.id)
    return ScreenAnswer(document, lambda: _template_values(index, page, document))


def answer_by_url(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(_document(index, request, id_=page_by_url(index, request).id))


def answer_text(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(_document(index, request, text=text_from_form(index, request.form, hint=API_HINT).text))


def _document(
    index: Index, request: ScreenRequest, *, id_: str | None = None, text: str | None = None
) -> VersionsDocument:
    versions = index.versions(id=id_, text=text, min_resemblance=request["t"], max_seconds=request.state.max_seconds)
    return versions_document(versions, limit=request["limit"])


def _template_values(index: Index, page: Record, document: VersionsDocument) -> Mapping[str, Any]:
    (latest,) = index.captures(page.url, limit=1)
    ids = [each["id"] for each in document["versions"]]
    return {
        "subject": page_subject(page_facts(page, index.scheme), index.scheme, latest.id),
        "tabs": other_page_tabs(page.id, VERSIONS),
        "heading": versions_summary(document),
        "before": {after: earlier for earlier, after in pairwise(ids)},
        "spans": seen_spans(document["versions"]),
        "max_pages_shown": MAX_PAGES_SHOWN,
    }


def seen_spans(versions: Sequence[VersionDocument]) -> dict[str, tuple[float, float]]:
    """Return, by id, where each version begins on a line from the first capture to the last, and its length, in per
    cent; nothing if all captures are of one moment."""
    times = {
        each["id"]: (datetime.fromisoformat(each["first_seen"]), datetime.fromisoformat(each["last_seen"]))
        for each in versions
        if each["first_seen"] and each["last_seen"]
    }
    start = min((first for first, _ in times.values()), default=None)
    end = max((last for _, last in times.values()), default=None)
    if start is None or end is None or start == end:
        return {}
    length = (end - start).total_seconds()
    xs = {id_: [100 * (each - start).total_seconds() / length for each in pair] for id_, pair in times.items()}
    return {id_: (min(first, 100 - MIN_SPAN), max(last - first, MIN_SPAN)) for id_, (first, last) in xs.items()}


def table(document: VersionsDocument) -> Iterator[Sequence[Cell]]:
    yield "version", "first_seen", "last_seen", "resemblance", "stale", "url", "id"
    for number, each in enumerate(document["versions"], 1):
        stale = set(each["stale_pages"])
        facts = number, each["first_seen"], each["last_seen"], each["resemblance"]
        for url, id_ in zip(each["pages"], each["page_ids"], strict=True):
            yield *facts, "stale" if url in stale else "", url, id_


PARAMETERS = (
    percentage("t", "minimum resemblance to the page or text", default=50),
    integer(
        "limit",
        "number of versions, the latest, and of pages listed for each",
        default=1_000,
        minimum=1,
        maximum=MAX_LISTED,
    ),
)
SCREEN = Screen(
    name="versions",
    path="/page/{id}/versions",
    api="/pages/{id}/versions",
    summary="The versions of a page and its copies, the oldest first",
    answer=answer,
    returns=VersionsDocument,
    heavy=True,
    table=table,
    parameters=PARAMETERS,
)
BY_URL = Screen(
    name="versions_of_url",
    path="",
    api="/versions",
    summary="The versions of the page of a URL and its copies, the oldest first",
    answer=answer_by_url,
    returns=VersionsDocument,
    heavy=True,
    parameters=(*URL_AND_TIME, *PARAMETERS),
)
OF_TEXT = Screen(
    name="versions_of_text",
    path="",
    api="/versions",
    summary="The versions of a text sent with the request, which is not kept, the oldest first",
    answer=answer_text,
    returns=VersionsDocument,
    heavy=True,
    sends=SentText,
    parameters=PARAMETERS,
)
