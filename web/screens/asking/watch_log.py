"""The log of watches: the pages that matched a watch when they were indexed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from opensearch_winnow.answers.asking.watch_log import (
    FindingDocument,
    WatchLogDocument,
    finding_document,
    watch_log_summary,
)
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.watch_log import MAX_FINDINGS
from opensearch_winnow.operations.asking.watches import MAX_NAME_CHARS, WatchError
from opensearch_winnow.web.parameters import integer, string
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_FINDINGS_PER_PAGE = 100


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    findings = index.watch_log(request["watch"] or None, limit=None)
    start = (request["page"] - 1) * request["limit"]
    listed = findings[start : start + request["limit"]]
    document: WatchLogDocument = {
        "total": len(findings),
        "findings": [finding_document(each) for each in listed],
    }
    return ScreenAnswer(document, lambda: _template_values(index, request, document))


def _template_values(index: Index, request: ScreenRequest, document: WatchLogDocument) -> Mapping[str, Any]:
    return {
        "heading": watch_log_summary(document, request["watch"]),
        "watched": watched_captures(index, document["findings"]),
        "following": request["page"] * request["limit"] < document["total"],
        "max_findings": MAX_FINDINGS,
    }


def watched_captures(index: Index, findings: Sequence[FindingDocument]) -> dict[str, str | None]:
    """Return, by the name of each watch that still exists, the id of the watched page; None if it watches a text."""
    urls: dict[str, str | None] = {}
    for name in {each["watch"] for each in findings}:
        with suppress(WatchError):
            urls[name] = index.watch(name).url
    latest = index.latest([url for url in urls.values() if url is not None])
    return {name: latest[url].id if url in latest else None for name, url in urls.items()}


def left_out(document: WatchLogDocument) -> str:
    return more_than_listed(document["total"] - len(document["findings"]), "finding")


def table(document: WatchLogDocument) -> Iterator[Sequence[Cell]]:
    yield "at", "watch", "containment", "longest", "fetched_at", "url", "title", "id"
    for each in document["findings"]:
        found = each["at"], each["watch"], each["containment"], each["longest"]
        yield *found, each["fetched_at"], each["url"], each["title"], each["id"]


SCREEN = Screen(
    name="watch_log",
    path="/watches/log",
    api="/watches/log",
    summary="What the watches found while pages were indexed, the newest first",
    answer=answer,
    returns=WatchLogDocument,
    table=table,
    left_out=left_out,
    csv_limit=MAX_FINDINGS,
    parameters=(
        string("watch", "only the findings of this watch", max_chars=MAX_NAME_CHARS),
        integer("limit", "number of findings on a page", default=25, minimum=1, maximum=MAX_FINDINGS_PER_PAGE),
        integer("page", "which page of them", default=1, minimum=1, maximum=MAX_FINDINGS),
    ),
)
