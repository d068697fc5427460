"""A summary of the versions of a page or text."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.operations.asking.versions import Versions


def versions_summary(versions: Versions) -> str:
    """Sum up versions: "3 versions on 5 pages; 1 page is stale"."""
    if not versions.total:
        return "no version"
    pages, stale = versions.page_count, versions.stale_count
    found = f"{count_of(versions.total, 'version')} on {count_of(pages, 'page')}"
    if pages == 1 and not stale:
        return found
    return f"{found}; {count_of(stale, 'page is', 'pages are') if stale else 'no page is'} stale"
