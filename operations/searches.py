"""Searches of a store, and the views that are kept for their next pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opensearch_winnow.operations.search_groups import Groups
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.cursors import Cursor, SearchRequest
from opensearch_winnow.queries.results import Result, SearchResults
from opensearch_winnow.stores.store import Store

MOST = 16  # searches whose groups are remembered


class Searches:
    """Of one store."""

    def __init__(self, store: Store, exclusions: Callable[[], Exclusions]) -> None:
        self._store = store
        self._exclusions = exclusions
        self._kept: dict[str, Groups] = {}  # by the keys of their views, the last used last

    def results(self, asked: SearchRequest, number: int, *, kept: bool = False) -> SearchResults:
        """A page of results, counted from 0; if the view is kept, with the cursor of the next one."""
        if not (kept or asked.group or asked.facets):
            found = self._store.search(asked.parsed, asked.where, limit=asked.limit, offset=asked.limit * number)
            return SearchResults(found.total, [Result(*hit, members=[]) for hit in found.hits])
        exclusions = self._exclusions()
        view = self._store.view(asked.parsed, asked.where, kept=kept)
        groups = Groups(view, asked, self._store.scheme, exclusions)
        if kept:
            return self._with_cursor(groups, number)
        with view:
            return groups.results(number)

    def following(self, cursor: Cursor) -> SearchResults:
        """The page of results of a cursor. Another process may have begun: then it is done again up to there."""
        groups = self._kept.pop(cursor.key, None)
        if groups is None:
            view = self._store.view(cursor.asked.parsed, cursor.asked.where, key=cursor.key)
            groups = Groups(view, cursor.asked, self._store.scheme, self._exclusions())
        return self._with_cursor(groups, cursor.number)

    def _with_cursor(self, groups: Groups, number: int) -> SearchResults:
        """The view stays, for those who go back, until its store ends it; unless nobody has a cursor of it."""
        found = groups.results(number)
        if number == 0 and not groups.has_more_than(number):
            groups.view.close()
            return found
        self._kept[groups.view.key] = groups
        while len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]
        if not groups.has_more_than(number):
            return found
        return replace(found, cursor=str(Cursor(groups.asked, groups.view.key, number + 1)))
