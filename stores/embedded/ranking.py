"""Orders the pages of an embedded store that have the words, as search results."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable

from opensearch_winnow.cython_core.best_scores import filter_pages, top_scores
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded.rows import conditions, page_numbers
from opensearch_winnow.stores.embedded.search import ScoredPages, find
from opensearch_winnow.stores.embedded.writes import gone_pages

# Among equal scores: the newest first (an unknown time is NULL, which sorts last here); then the shortest URL.
TIE_ORDER = "fetched_at DESC, length(url), url"
MAX_ROW_LOOKUPS = 5_000  # for more pages it is quicker to read the list of all captures that are not the latest


class Ranking:
    """The hits of a search in order, valid during a transaction of the caller.

    The order is by score, then newest first, then by the length of the URL, then by URL.
    """

    def __init__(self, db: sqlite3.Connection, words: Words, where: Filters) -> None:
        self._db = db
        self._hits = self._filtered(find(db, words, gone_pages(db)), where)
        self._first: list[tuple[int, float]] = []

    @property
    def total(self) -> int:
        return len(self._hits.numbers)

    @property
    def numbers(self) -> array[int]:
        """The numbers of all hits, in ascending order."""
        return self._hits.numbers

    def first(self, count: int) -> list[tuple[int, float]]:
        """Return the numbers and scores of the first `count` hits, or of all if there are fewer."""
        count = min(max(count, 0), self.total)
        if count > len(self._first):
            # More than requested, so that a caller who pages through the hits does not sort them anew each time.
            wanted = min(2 * len(self._first) + count, self.total) if self._first else count
            above, scores, tied, score = top_scores(*self._hits, wanted)
            self._first = self._ordered(ScoredPages(above, scores))
            self._first += [(number, score) for number in self._in_order(tied, wanted - len(above))]
        return self._first[:count]

    def among(self, numbers: Iterable[int]) -> list[tuple[int, float]]:
        """Return the numbers and scores of the hits among some pages, in order."""
        return self._ordered(ScoredPages(*filter_pages(*self._hits, page_numbers(sorted(set(numbers))))))

    def _ordered(self, pages: ScoredPages) -> list[tuple[int, float]]:
        rank_of = {number: rank for rank, number in enumerate(self._in_order(pages.numbers, len(pages.numbers)))}
        pairs = zip(*pages, strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], rank_of[pair[0]]))

    def _in_order(self, numbers: array[int], count: int) -> list[int]:
        """Return the first `count` of some pages, in the order of equal scores."""
        rows = self._db.execute(
            "SELECT number FROM json_each(?) AS wanted JOIN page ON number = wanted.value"
            f" ORDER BY {TIE_ORDER} LIMIT ?",
            (json.dumps(numbers.tolist()), count),
        )
        return [number for (number,) in rows]

    def _filtered(self, pages: ScoredPages, where: Filters) -> ScoredPages:
        if where == Filters() or not pages.numbers:
            return pages
        if where == Filters(latest=True) and len(pages.numbers) > MAX_ROW_LOOKUPS:
            others = self._db.execute("SELECT number FROM page WHERE NOT latest ORDER BY number")
            return ScoredPages(*filter_pages(*pages, page_numbers(number for (number,) in others), exclude=True))
        condition, parameters = conditions(where)
        # CROSS JOIN fixes the order: SQLite looks up the row of each page.
        matching = self._db.execute(
            f"SELECT number FROM json_each(?) AS wanted CROSS JOIN page ON number = wanted.value"
            f" WHERE {condition} ORDER BY number",
            (json.dumps(pages.numbers.tolist()), *parameters),
        )
        return ScoredPages(*filter_pages(*pages, page_numbers(number for (number,) in matching)))
