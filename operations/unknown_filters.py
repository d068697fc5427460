"""Says which site, crawl or cluster of a choice a store does not have, and what it has instead."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.stores.store import Store

MAX_CRAWLS_NAMED = 10
WWW = "www."


def unknown_filters(store: Store, where: Filters) -> Iterator[str]:
    """Yield a sentence, without its full stop, for each value of `where` that no page of the store has."""
    if where.site is not None and not _has(store, Filters(site=where.site)):
        known = known_site(store, where.site)
        yield f"{store.name} has no page of the site {where.site}{f'; there is {known}' if known else ''}"
    if where.crawl is not None and not _has(store, Filters(crawl=where.crawl)):
        names = [crawl.name for crawl in store.crawls()]
        some = ", ".join(names[: -MAX_CRAWLS_NAMED - 1 : -1]) + " and others" * (len(names) > MAX_CRAWLS_NAMED)
        yield f"{store.name} has no page of the crawl {where.crawl}{f'; there is {some}' if names else ''}"
    for cluster in (where.clusters or ()) if isinstance(where, Selection) else ():
        if not _has(store, Selection(clusters=(cluster,))):
            yield f"{store.name} has no cluster {cluster}"


def known_site(store: Store, site: str) -> str | None:
    """Return the site with or without "www.", whichever `site` is not, if the store has a page of it."""
    other = site.removeprefix(WWW) if site.startswith(WWW) else f"{WWW}{site}"
    return other if _has(store, Filters(site=other)) else None


def _has(store: Store, where: Filters) -> bool:
    return any(True for _ in store.scan(Card, where, limit=1))
