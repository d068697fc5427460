"""Watches and their matches, as JSON values, and summaries of them."""

from __future__ import annotations

from typing import Any, TypedDict

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.operations.asking.watches import Watch, WatchReport


class WatchDocument(TypedDict):
    """A saved question about a page (`url`) or a `text`: which pages contain at least `min_containment` of it?"""

    name: str
    url: str | None
    text: str | None
    min_containment: float
    at: str


class WatchReportDocument(WatchDocument):
    """A watch with its matches. `new` has the ids of matches found since the watch was last marked as seen; `error`
    says why there is no answer."""

    total: int
    new: list[str]
    matches: list[dict[str, Any]]
    error: str | None


class WatchesDocument(TypedDict):
    """Watches of a store, by name: a part of the `total`."""

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
    """Return a report with its first `limit` matches, new ones first."""
    matches = sorted(report.matches, key=lambda match: match.card.id not in report.new)
    return {
        **watch_document(report.watch),
        "total": report.matches.total,
        "new": [match.card.id for match in matches if match.card.id in report.new],
        "matches": [match.to_dict() for match in matches[:limit]],
        "error": None,
    }


def unanswered_document(watch: Watch, error: str) -> WatchReportDocument:
    return {**watch_document(watch), "total": 0, "new": [], "matches": [], "error": error}


def watches_summary(document: WatchesDocument) -> str:
    """Sum up a list of watches: "2 watches, 3 new pages"."""
    if not document["total"]:
        return "No watches yet"
    new = sum(len(each["new"]) for each in document["watches"])
    listed = len(document["watches"])
    part = "" if listed == document["total"] else f" for the {listed:,} listed"
    return f"{count_of(document['total'], 'watch', 'watches')}, {_new_pages(new)}{part}"


def watch_report_summary(report: WatchReportDocument) -> str:
    """Sum up the matches of a watch: "5 pages, 2 of them new"."""
    total, new = report["total"], len(report["new"])
    if not total:
        return "No pages yet"
    if new == total:
        return _new_pages(new)
    news = f"{new:,} of them new" if new else "none of them new" if total > 1 else "not new"
    return f"{count_of(total, 'page')}, {news}"


def _new_pages(pages: int) -> str:
    return count_of(pages, "new page") if pages else "no new pages"
