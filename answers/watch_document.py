"""Watches, and what was found for them, as JSON values."""

from __future__ import annotations

from typing import TypedDict

from opensearch_winnow.answers.matches_document import MatchDocument, match_documents
from opensearch_winnow.operations.watches import Watch, WatchReport


class WatchDocument(TypedDict):
    """Who has some of this page, or of this text? Matches have `min_containment` of it at least."""

    name: str
    url: str | None
    text: str | None
    min_containment: float
    at: str


class WatchReportDocument(WatchDocument):
    """The answer to a watch: `new` are ids of matches that were not there when it was last marked as seen. `error` is
    why there is no answer."""

    total: int
    new: list[str]
    matches: list[MatchDocument]
    error: str | None


class WatchesDocument(TypedDict):
    """Some of the watches of a store, by name: there are `total`."""

    total: int
    watches: list[WatchReportDocument]


def watch_document(watch: Watch) -> WatchDocument:
    return {
        "name": watch.name,
        "url": watch.url,
        "text": watch.text,
        "min_containment": watch.min_containment,
        "at": watch.at.isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


def watch_report_document(report: WatchReport, *, limit: int | None = None) -> WatchReportDocument:
    """New matches first; so many of them."""
    matches = sorted(report.matches, key=lambda match: match.card.id not in report.new)
    return {
        **watch_document(report.watch),
        "total": report.matches.total,
        "new": [match.card.id for match in matches if match.card.id in report.new],
        "matches": match_documents(matches[:limit]),
        "error": None,
    }


def unanswered_document(watch: Watch, error: str) -> WatchReportDocument:
    return {**watch_document(watch), "total": 0, "new": [], "matches": [], "error": error}
