"""Runs searches on a store, and keeps their groups for the next pages of results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.operations.search_groups import SearchGroups
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.results import Result, SearchResults
from opensearch_winnow.queries.search_request import Cursor, SearchRequest
from opensearch_winnow.stores.store import Store

MAX_CACHED_SEARCHES = 16  # each holds its groups in memory


class Searches:
    """Runs searches on a store and keeps views open for paging.

    `exclusions` returns the hashes of the boilerplate that is registered now.
    """

    def __init__(self, store: Store, exclusions: Callable[[], Exclusions]) -> None:
        self._store = store
        self._exclusions = exclusions
        self._cached: dict[str, SearchGroups] = {}  # by the keys of their views, the last used last

    def results(self, request: SearchRequest, number: int, *, keep_open: bool = False) -> SearchResults:
        """Return a page of results, counted from 0. With `keep_open`, `.cursor` leads to the next one."""
        if number < 0:
            raise QuestionError(f"pages of results are counted from 1: there is no page {number + 1}")
        if not (keep_open or request.group or request.facets):
            hits = self._store.search(request.parsed, request.where, limit=request.limit, offset=request.limit * number)
            return SearchResults(hits.total, [Result(*hit, members=[]) for hit in hits.hits])
        exclusions, scheme = self._exclusions(), self._store.scheme
        view = self._store.view(request.parsed, request.where, keep_open=keep_open)
        if keep_open:
            return self._with_cursor(SearchGroups(view, request, scheme, exclusions), number)
        with view:
            return SearchGroups(view, request, scheme, exclusions).results(number)

    def following(self, cursor: Cursor) -> SearchResults:
        """Return the page of results that a cursor points to.

        The search may have begun in another process; then its earlier pages are examined here again.
        """
        groups = self._cached.pop(cursor.key, None)
        if groups is None:
            view = self._store.view(cursor.request.parsed, cursor.request.where, key=cursor.key)
            groups = SearchGroups(view, cursor.request, self._store.scheme, self._exclusions())
        return self._with_cursor(groups, cursor.number)

    def _with_cursor(self, groups: SearchGroups, number: int) -> SearchResults:
        """Keep the view until its store ends it, so that readers may go back; close it if no cursor was handed out."""
        results = groups.results(number)
        if number == 0 and not groups.has_more_than(number):
            groups.view.close()
            return results
        self._cached[groups.view.key] = groups
        for key in list(self._cached)[:-MAX_CACHED_SEARCHES]:
            self._cached.pop(key, None)  # another thread may have taken it
        if not groups.has_more_than(number):
            return results
        return replace(results, cursor=str(Cursor(groups.request, groups.view.key, number + 1)))
