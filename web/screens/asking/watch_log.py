"""The log of watches: the pages that matched a watch when they were indexed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from opensearch_winnow.answers.formatting import count_of, more_than_listed
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.finding import Finding, Findings
from opensearch_winnow.operations.asking.watch_log import MAX_FINDINGS, LogQuestion
from opensearch_winnow.operations.asking.watches import MAX_NAME_CHARS, WatchError
from opensearch_winnow.web.parameters import integer, of_options, string
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_FINDINGS_PER_PAGE = 100


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    log = index.watch_log(request["watch"] or None, limit=None)
    start = (request["page"] - 1) * request["limit"]
    log = replace(log, findings=log.findings[start : start + request["limit"]])
    return ScreenAnswer(log, lambda: _template_values(index, request, log))


def _template_values(index: Index, request: ScreenRequest, log: Findings) -> Mapping[str, Any]:
    return {
        "heading": _heading(log, request["watch"]),
        "watched": watched_captures(index, log),
        "following": request["page"] * request["limit"] < log.total,
        "max_findings": MAX_FINDINGS,
    }


def _heading(log: Findings, watch: str) -> str:
    """Sum up a log: "12 findings of all watches"."""
    if not log.total:
        return f"The watch {watch} has found nothing yet" if watch else "No watch has found anything yet"
    return f"{count_of(log.total, 'finding')} of {f'the watch {watch}' if watch else 'all watches'}"


def watched_captures(index: Index, findings: Iterable[Finding]) -> dict[str, str | None]:
    """Return, by the name of each watch that still exists, the id of the watched page; None if it watches a text."""
    urls: dict[str, str | None] = {}
    for name in {each.watch for each in findings}:
        with suppress(WatchError):
            urls[name] = index.watch(name).url
    latest = index.latest([url for url in urls.values() if url is not None])
    return {name: latest[url].id if url in latest else None for name, url in urls.items()}


def left_out(log: Findings) -> str:
    return more_than_listed(log.total - len(log), "finding")


SCREEN = Screen(
    name="watch_log",
    path="/watches/log",
    api="/watches/log",
    summary="The findings of watches while pages were indexed, the newest first",
    answer=answer,
    returns=Findings,
    left_out=left_out,
    csv_limit=MAX_FINDINGS,
    parameters=(
        string("watch", "only the findings of this watch", max_chars=MAX_NAME_CHARS),
        *of_options(LogQuestion, "limit", defaults={"limit": 25}, at_most={"limit": MAX_FINDINGS_PER_PAGE}),
        integer("page", "page of the list", default=1, minimum=1, maximum=MAX_FINDINGS),
    ),
)
