"""The versions of a page or text as JSON values, and a summary of them."""

from __future__ import annotations

from typing import TypedDict

from opensearch_winnow.answers.formatting import count_of, time_stamp
from opensearch_winnow.operations.asking.versions import Version, Versions


class VersionDocument(TypedDict):
    """Captures with the same text. `resemblance` compares it with the version before; null for the first, or where a
    text is not stored. `same` says whether it is the text in question. `first_seen` and `first_url` are when and where
    it was first captured, `id` is that capture. `pages` are the URLs that had this text, in the order in which they
    were first seen with it, `page_ids` their last captures with it, and `page_count` the number of pages, of which
    some may be left out. It was `replaced` if one of
    them has another text in its newest capture; then those that have this text still are `stale_pages`."""

    id: str
    title: str | None
    first_seen: str | None
    first_url: str
    last_seen: str | None
    resemblance: float | None
    same: bool
    replaced: bool
    captures: int
    page_count: int
    pages: list[str]
    page_ids: list[str]
    stale_pages: list[str]


class VersionsDocument(TypedDict):
    """Versions of a page or text, the oldest first: the latest of `total`. They have `page_count` URLs, of which
    `stale_count` are stale: they still have a version that another page has replaced. Each resembles the text in
    question, or another version of the page, by at least `threshold`. `unscored` candidates were not compared, because
    the time was up."""

    total: int
    page_count: int
    stale_count: int
    threshold: float
    unscored: int
    seconds: float
    versions: list[VersionDocument]


def versions_document(versions: Versions, *, limit: int) -> VersionsDocument:
    """Return the latest `limit` versions, each with its first `limit` pages."""
    return {
        "total": len(versions),
        "page_count": len({card.url for version in versions for card in version.captures}),
        "stale_count": len({url for version in versions for url in version.stale_pages}),
        "threshold": versions.threshold,
        "unscored": versions.unscored,
        "seconds": round(versions.seconds, 6),
        "versions": [_version_document(each, limit) for each in versions.versions[-limit:]],
    }


def _version_document(version: Version, limit: int) -> VersionDocument:
    first, pages = version.captures[0], version.pages
    last = {card.url: card.id for card in version.captures}
    times = [stamp for stamp in map(time_stamp, version.captures) if stamp is not None]
    return {
        "id": first.id,
        "title": first.title,
        "first_seen": time_stamp(first),
        "first_url": first.url,
        "last_seen": times[-1] if times else None,
        "resemblance": version.resemblance,
        "same": version.same,
        "replaced": version.replaced,
        "captures": len(version.captures),
        "page_count": len(pages),
        "pages": pages[:limit],
        "page_ids": [last[url] for url in pages[:limit]],
        "stale_pages": version.stale_pages[:limit],
    }


def versions_summary(document: VersionsDocument) -> str:
    """Sum up versions: "3 versions on 5 pages; 1 page is stale"."""
    if not document["total"]:
        return "no version"
    pages, stale = document["page_count"], document["stale_count"]
    found = f"{count_of(document['total'], 'version')} on {count_of(pages, 'page')}"
    if pages == 1 and not stale:
        return found
    return f"{found}; {count_of(stale, 'page is', 'pages are') if stale else 'no page is'} stale"
