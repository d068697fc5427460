"""Runs searches on a store, and keeps their hits for the next pages of results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.searching.result_pages import ResultPages
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.searching.cursor_text import CURSOR_EXPIRED
from opensearch_winnow.queries.searching.results import Member, Result, SearchResults
from opensearch_winnow.queries.searching.search_request import Cursor, SearchRequest
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.blocked_pages import BlockedPages, blocked_entries
from opensearch_winnow.stores.chosen_captures import chosen_captures
from opensearch_winnow.stores.store import Store, StoreError

MAX_CACHED_SEARCHES = 16  # each holds its hits in memory
MAX_CRAWLS_NAMED = 10
WWW = "www."


class Searches:
    """Runs searches on a store and keeps views open for paging.

    `exclusions` returns the hashes of the boilerplate that is registered now.
    """

    def __init__(self, store: Store, exclusions: Callable[[], Exclusions]) -> None:
        self._store = store
        self._exclusions = exclusions
        self._cached: dict[str, ResultPages] = {}  # by the keys of their views, the last used last

    def results(self, request: SearchRequest, number: int, *, keep_open: bool = False) -> SearchResults:
        """Return a page of results, counted from 0. With `keep_open`, `.cursor` leads to the next one."""
        start = time.perf_counter()
        return self._complete(self._results(request, number, keep_open=keep_open), start)

    def _results(self, request: SearchRequest, number: int, *, keep_open: bool) -> SearchResults:
        if not (keep_open or request.group or request.facets):
            start = request.limit * number
            with self._store.view(request.parsed, request.searched) as view:
                hits = view.hits(start, start + request.limit)  # first: on OpenSearch, the total comes with them
                return SearchResults(total=view.total, hits=[Result(*hit, members=[]) for hit in hits])
        exclusions, scheme = self._exclusions(), self._store.scheme
        view = self._store.view(request.parsed, request.searched, keep_open=keep_open)
        if keep_open:
            return self._with_cursor(ResultPages(view, request, scheme, exclusions), number)
        with view:
            return ResultPages(view, request, scheme, exclusions).results(number)

    def total(self, words: str, where: Filters = Filters(), *, any_word: bool = False) -> int:
        """Return the number of pages that have the words."""
        request = SearchRequest(words=words, any_word=any_word, where=where, all_captures=True, limit=1)
        return self.results(request, 0).total

    def following(self, cursor: Cursor) -> SearchResults:
        """Return the page of results that a cursor points to.

        The search may have begun in another process; then its earlier pages are examined here again. The results are
        frozen, so a page that was deleted may be among them. If it is blocked, the cursor has expired.
        """
        start = time.perf_counter()
        pages = self._cached.pop(cursor.key, None)
        if pages is None:
            view = self._store.view(cursor.request.parsed, cursor.request.searched, key=cursor.key)
            pages = ResultPages(view, cursor.request, self._store.scheme, self._exclusions())
        results = self._with_cursor(pages, cursor.number)
        blocked = BlockedPages(blocked_entries(self._store))
        if any(url in blocked for url in _urls(results)):
            raise StoreError(f"{self._store.name}: {CURSOR_EXPIRED}; pages that it found were deleted for good")
        return self._complete(results, start)

    def _complete(self, results: SearchResults, start: float) -> SearchResults:
        """Return results with the titles of the pages in groups, and with the time that they took."""
        members = [*(each for hit in results for each in hit.members), *(each.member for each in results.folded)]
        cards = chosen_captures(self._store, Card, ids=[each.id for each in members])
        titles = {card.id: card.title for card in cards}

        def titled(member: Member) -> Member:
            return replace(member, title=titles.get(member.id))

        return replace(
            results,
            hits=[replace(hit, members=list(map(titled, hit.members))) if hit.members else hit for hit in results],
            folded=[replace(each, member=titled(each.member)) for each in results.folded],
            seconds=time.perf_counter() - start,
        )

    def _with_cursor(self, pages: ResultPages, number: int) -> SearchResults:
        """Keep the view until its store ends it, so that readers may go back; close it if no cursor was handed out."""
        results = pages.results(number)
        if number == 0 and not pages.has_more_than(number):
            pages.view.close()
            return results
        self._cached[pages.view.key] = pages
        for key in list(self._cached)[:-MAX_CACHED_SEARCHES]:
            self._cached.pop(key, None)  # another thread may have taken it
        if not pages.has_more_than(number):
            return results
        return replace(results, cursor=str(Cursor(pages.request, pages.view.key, number + 1)))


def _urls(results: SearchResults) -> Iterator[str]:
    """Yield the URLs of all pages that these results name."""
    for hit in results.hits:
        yield hit.url
        yield from (member.url for member in hit.members)
    for folded in results.folded:
        yield folded.url
        yield folded.member.url


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
    """Return the site with "www." added or removed, if the store has a page of it."""
    other = site.removeprefix(WWW) if site.startswith(WWW) else f"{WWW}{site}"
    return other if _has(store, Filters(site=other)) else None


def _has(store: Store, where: Filters) -> bool:
    return any(True for _ in store.scan(Card, where, limit=1))
