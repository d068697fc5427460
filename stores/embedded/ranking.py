"""The pages of a file that have the words, in the order of search results."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable

from opensearch_winnow.cython_core.best_scores import filter_pages, top_scores
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded.rows import conditions
from opensearch_winnow.stores.embedded.search import Found, find
from opensearch_winnow.stores.embedded.writes import gone

# Behind the score: the newest, with those of an unknown time last, since NULL is the smallest; then the shortest URL.
ORDER = "fetched_at DESC, length(url), url"
FEW = 5_000  # pages that are looked up one by one; of more it is quicker to read which are not the latest


class Ranking:
    """In a transaction of the caller's, as long as it lasts.

    The best first, of equals the newest, then the one with the shortest URL, then by URL.
    """

    def __init__(self, rows: sqlite3.Connection, words: Words, where: Filters) -> None:
        self._rows = rows
        self._found = self._filtered(find(rows, words, array("I", gone(rows))), where)
        self._first: list[tuple[int, float]] = []

    @property
    def total(self) -> int:
        return len(self._found.numbers)

    @property
    def numbers(self) -> array[int]:
        """Of all pages, in the order of the numbers."""
        return self._found.numbers

    def first(self, count: int) -> list[tuple[int, float]]:
        """The numbers of the first pages, or of all if there are fewer, with their scores."""
        count = min(max(count, 0), self.total)
        if count > len(self._first):
            # More than was asked for: who wants to see more each time does not begin anew each time.
            wanted = min(2 * len(self._first) + count, self.total) if self._first else count
            above, scores, tied, score = top_scores(*self._found, wanted)
            self._first = self._ordered(Found(above, scores))
            self._first += [(number, score) for number in self._in_order(tied, wanted - len(above))]
        return self._first[:count]

    def among(self, numbers: Iterable[int]) -> list[tuple[int, float]]:
        """Those of some pages that have the words, in order, with their scores."""
        return self._ordered(Found(*filter_pages(*self._found, array("I", sorted(set(numbers))))))

    def _ordered(self, found: Found) -> list[tuple[int, float]]:
        places = {number: place for place, number in enumerate(self._in_order(found.numbers, len(found.numbers)))}
        pairs = zip(*found, strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], places[pair[0]]))

    def _in_order(self, numbers: array[int], count: int) -> list[int]:
        """The first of some pages, by all but their scores."""
        found = self._rows.execute(
            f"SELECT number FROM json_each(?) AS wanted JOIN page ON number = wanted.value ORDER BY {ORDER} LIMIT ?",
            (json.dumps(numbers.tolist()), count),
        )
        return [number for (number,) in found]

    def _filtered(self, found: Found, where: Filters) -> Found:
        if where == Filters() or not found.numbers:
            return found
        if where == Filters(latest=True) and len(found.numbers) > FEW:
            others = self._rows.execute("SELECT number FROM page WHERE NOT latest ORDER BY number")
            return Found(*filter_pages(*found, array("I", [number for (number,) in others]), exclude=True))
        condition, parameters = conditions(where)
        # In this order: for each of the pages the row.
        there = self._rows.execute(
            f"SELECT number FROM json_each(?) AS wanted CROSS JOIN page ON number = wanted.value"
            f" WHERE {condition} ORDER BY number",
            (json.dumps(found.numbers.tolist()), *parameters),
        )
        return Found(*filter_pages(*found, array("I", [number for (number,) in there])))
