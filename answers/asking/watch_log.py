"""The findings of watches, as JSON values, and a summary of them."""

from __future__ import annotations

from typing import TypedDict, cast

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.mappings.finding import Finding


class FindingDocument(TypedDict):
    """A page that matched a watch when it was indexed. `containment` is the share of the watched text that it has, and
    `longest` the length of the longest shared passage in characters; 0 if texts are not stored."""

    at: str
    watch: str
    id: str
    url: str
    title: str | None
    fetched_at: str | None
    containment: float
    longest: int


class WatchLogDocument(TypedDict):
    """Findings, the newest first: a part of the `total`."""

    total: int
    findings: list[FindingDocument]


def finding_document(finding: Finding) -> FindingDocument:
    return cast(FindingDocument, finding.as_document())


def watch_log_summary(document: WatchLogDocument, watch: str) -> str:
    """Sum up a log: "12 findings of all watches"."""
    if not document["total"]:
        return f"The watch {watch} has found nothing yet" if watch else "No watch has found anything yet"
    return f"{count_of(document['total'], 'finding')} of {f'the watch {watch}' if watch else 'all watches'}"
