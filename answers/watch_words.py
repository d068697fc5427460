"""What was found for watches, in words."""

from __future__ import annotations

from opensearch_winnow.answers.search_words import count_of
from opensearch_winnow.answers.watch_document import WatchesDocument, WatchReportDocument


def watches_words(document: WatchesDocument) -> str:
    """2 watches, 3 new pages."""
    if not document["total"]:
        return "No watch yet"
    new = sum(len(each["new"]) for each in document["watches"])
    checked = len(document["watches"])
    part = "" if checked == document["total"] else f" for the {checked:,} that are shown"
    return f"{count_of(document['total'], 'watch', 'watches')}, {_new(new)}{part}"


def watch_report_words(report: WatchReportDocument) -> str:
    """5 pages, 2 of them new."""
    total, new = report["total"], len(report["new"])
    if not total:
        return "No page yet"
    if new == total:
        return _new(new)
    said = f"{new:,} of them new" if new else "none of them new" if total > 1 else "not new"
    return f"{count_of(total, 'page')}, {said}"


def _new(pages: int) -> str:
    return count_of(pages, "new page") if pages else "no new page"
