"""A page with its matches, cluster and history, as JSON values."""

from __future__ import annotations

from typing import Literal, TypedDict

from opensearch_winnow.answers.asking.history import HistoryDocument
from opensearch_winnow.answers.asking.matches_document import MatchesDocument, matches_document
from opensearch_winnow.answers.formatting import time_stamp
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.matches import Matches

MAX_MEMBERS_COUNTED = 100  # captures of the page's cluster


class PageClusterDocument(TypedDict):
    """The page's cluster. `pages` counts its captures, up to a limit, and `urls` the different URLs of these; `more`
    says whether there are more. `at` is when the store was last clustered."""

    id: str
    pages: int
    urls: int
    more: bool
    at: str | None


class SimilarDocument(MatchesDocument):
    """`copies` has the ids of matches with the same words in the same order."""

    copies: list[str]


class PageFacts(TypedDict):
    """The header of a capture. `words` and `characters` (letters and digits) are null if the text is not stored."""

    id: str
    url: str
    title: str | None
    site: str
    crawl: str
    fetched_at: str | None
    duplicate: Literal["revisit", "content", "text", "shingles"] | None
    duplicate_of: str | None
    words: int | None
    characters: int | None


class PageDocument(PageFacts):
    """A capture, the pages that are similar to it, its cluster, its history and its text."""

    latest: bool
    scheme: str
    fingerprints: int
    shingles: int
    similar: SimilarDocument
    cluster: PageClusterDocument
    history: HistoryDocument
    text: str


def page_facts(page: Record, scheme: Scheme) -> PageFacts:
    compared = canonical(page.text, scheme, name=page.url) if page.text else None
    return {
        "id": page.id,
        "url": page.url,
        "title": page.title,
        "site": page.site,
        "crawl": page.crawl,
        "fetched_at": time_stamp(page),
        "duplicate": page.duplicate,
        "duplicate_of": page.duplicate_of,
        "words": compared and len(compared.words),
        "characters": compared and len(compared.chars),
    }


def page_document(index: Index, page: Record, matches: Matches, history: HistoryDocument) -> PageDocument:
    return {
        **page_facts(page, index.scheme),
        "latest": history["captures"][-1]["id"] == page.id,
        "scheme": index.scheme.id,
        "fingerprints": page.fingerprint_count,
        "shingles": page.shingle_count,
        "similar": similar_document(page, matches),
        "cluster": page_cluster_document(index, page),
        "history": history,
        "text": page.text,
    }


def similar_document(page: Record, matches: Matches) -> SimilarDocument:
    copies = [each.card.id for each in matches if page.text_digest and each.card.text_digest == page.text_digest]
    return {**matches_document(matches), "copies": copies}


def page_cluster_document(index: Index, page: Record) -> PageClusterDocument:
    captures = index.cluster_pages(page.cluster, limit=MAX_MEMBERS_COUNTED + 1)
    counted = captures[:MAX_MEMBERS_COUNTED]
    return {
        "id": page.cluster,
        "pages": len(counted),
        "urls": len({card.url for card in counted}),
        "more": len(captures) > MAX_MEMBERS_COUNTED,
        "at": written_time(clustering.at) if (clustering := index.clustering()) else None,
    }
