"""Checks of watches, and summaries of what they find."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.watches import CheckedWatches, WatchReport


def checked_watch(index: Index, name: str) -> WatchReport:
    """Check a watch. If that fails, because its page was deleted, say, the report says so; other watches still work."""
    try:
        return index.check_watch(name)
    except QuestionError as error:
        return WatchReport(index.watch(name), None, frozenset(), [], str(error))


def watches_summary(checked: CheckedWatches) -> str:
    """Sum up a list of watches: "2 watches, 3 new pages"."""
    if not checked.total:
        return "No watches yet"
    part = "" if len(checked) == checked.total else f" for the {len(checked):,} listed"
    return f"{count_of(checked.total, 'watch', 'watches')}, {_new_pages(sum(len(each.new) for each in checked))}{part}"


def watch_report_summary(report: WatchReport) -> str:
    """Sum up the matches of a watch: "5 pages, 2 of them new"."""
    total, new = report.total, len(report.new)
    if not total:
        return "No pages yet"
    if new == total:
        return _new_pages(new)
    news = f"{new:,} of them new" if new else "none of them new" if total > 1 else "not new"
    return f"{count_of(total, 'page')}, {news}"


def _new_pages(pages: int) -> str:
    return count_of(pages, "new page") if pages else "no new pages"
