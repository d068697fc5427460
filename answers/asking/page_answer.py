"""The answer to a request for a page: its facts, its matches, its cluster, its history and its text."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from opensearch_winnow.foundation.answers import Answer, answer, inlined, key
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.history import History
from opensearch_winnow.queries.asking.matches import Matches

MAX_MEMBERS_COUNTED = 100  # captures of the page's cluster

Duplicate = Literal["revisit", "content", "text", "shingles"]


@answer
class PageCluster(Answer):
    """The cluster of a page."""

    id: str = key("The id of the cluster.")
    pages: int = key("The number of its captures, up to a limit.")
    urls: int = key("The number of different URLs of these captures.")
    more: bool = key("True if the cluster has more captures.")
    at: datetime | None = key("The time at which the store was last clustered; null if it never was.")

    @classmethod
    def of(cls, index: Index, page: Record) -> Self:
        """Return the cluster of a page."""
        captures = index.cluster_pages(page.cluster, limit=MAX_MEMBERS_COUNTED + 1)
        counted, clustering = captures[:MAX_MEMBERS_COUNTED], index.clustering()
        return cls(
            id=page.cluster,
            pages=len(counted),
            urls=len({card.url for card in counted}),
            more=len(captures) > MAX_MEMBERS_COUNTED,
            at=clustering.at if clustering else None,
        )


@answer
class PageMatches(Answer):
    """The pages that are similar to a page."""

    found: Matches = inlined()
    copies: list[str] = key("The ids of matches with the same words in the same order.")

    @classmethod
    def of(cls, page: Record, found: Matches) -> Self:
        """Return the matches of a page."""
        digest = page.hashes.text_digest
        return cls(found, [each.id for each in found if digest and each.card.text_digest == digest])


@answer
class PageFacts(Answer):
    """The header of a capture."""

    id: str = key("The id of the capture.")
    url: str = key("The URL of the page.")
    title: str | None = key("Its title.")
    site: str = key("Its site.")
    crawl: str = key("The crawl; empty if it has no name.")
    fetched_at: datetime | None = key("The time of the capture; null if it is unknown.")
    duplicate: Duplicate | None = key("How it equals an earlier page, if it does.")
    duplicate_of: str | None = key("The URL of the earlier page; null if it is unknown.")
    words: int | None = key("The number of words; null if the text is not stored.")
    characters: int | None = key("The number of letters and digits; null if the text is not stored.")


@answer
class PageAnswer(Answer):
    """A capture, the pages that are similar to it, its cluster, its history and its text."""

    facts: PageFacts = inlined()
    latest: bool = key("True if it is the latest capture of its URL.")
    scheme: str = key("The id of the scheme.")
    fingerprints: int = key("The number of its fingerprints.")
    shingles: int = key("The number of its shingles.")
    similar: PageMatches = key("The pages that are similar to it.")
    cluster: PageCluster = key("Its cluster.")
    history: History = key("The captures of its URL.")
    text: str = key("Its text; empty if it is not stored.")

    @classmethod
    def of(cls, index: Index, page: Record, found: Matches, history: History) -> Self:
        """Return the answer about a page with these matches and this history."""
        return cls(
            facts=page_facts(page, index.scheme),
            latest=history[-1].card.id == page.id,
            scheme=index.scheme.id,
            fingerprints=page.hashes.fingerprint_count,
            shingles=page.hashes.shingle_count,
            similar=PageMatches.of(page, found),
            cluster=PageCluster.of(index, page),
            history=history,
            text=page.text,
        )


def page_facts(page: Record, scheme: Scheme) -> PageFacts:
    """Count the words and characters of a page."""
    compared = canonical(page.text, scheme, name=page.url) if page.text else None
    return PageFacts(
        id=page.id,
        url=page.url,
        title=page.title,
        site=page.site,
        crawl=page.crawl,
        fetched_at=page.fetched_at,
        duplicate=page.duplicate,
        duplicate_of=page.duplicate_of,
        words=compared and len(compared.words),
        characters=compared and len(compared.chars),
    )
