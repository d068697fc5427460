"""Finds candidates by the postings of the file."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from heapq import nsmallest

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.frequency_check import FrequencyCheck
from opensearch_winnow.queries.lookups import Lookup
from opensearch_winnow.stores.embedded.postings import Postings
from opensearch_winnow.stores.embedded.rows import CARD, card_of, conditions
from opensearch_winnow.stores.embedded.writes import gone_pages
from opensearch_winnow.stores.store import Candidate, Candidates, Sizes


def find_candidates(
    db: sqlite3.Connection,
    lookups: Sequence[Lookup],
    where: Filters,
    check: FrequencyCheck | None,
    sizes: Sizes | None,
) -> list[Candidates]:
    """Find the pages of each lookup, after the frequency check."""
    if check is not None:
        over = check.max_pages
        lookups = check.trimmed(lookups, lambda checked: count_pages(db, checked, over=over))
    return [_found(db, lookup, where, sizes) for lookup in lookups]


def _found(db: sqlite3.Connection, lookup: Lookup, where: Filters, sizes: Sizes | None) -> Candidates:
    shared: Counter[int] = Counter()
    for _, pages in Postings(db, lookup.field).pages(lookup.tokens):
        shared.update(pages)
    numbers = [number for number, count in shared.items() if count >= lookup.minimum]
    others = 0
    if lookup.most is not None and len(numbers) > lookup.most:
        numbers = _still_there(db, numbers, where)
        others = max(len(numbers) - lookup.most, 0)
        numbers = nsmallest(lookup.most, numbers, key=lambda number: (-shared[number], number))
    condition, parameters = conditions(where)
    # Deleted pages still have postings, but no row.
    found = db.execute(
        f"SELECT number, {CARD} FROM json_each(?) AS wanted JOIN page ON number = wanted.value WHERE {condition}",
        (json.dumps(numbers), *parameters),
    )
    candidates = (_candidate(card_of(row), shared[number]) for number, *row in found)
    wanted = [each for each in candidates if sizes is None or sizes.include(each.shingle_count)]
    return Candidates(lookup, sorted(wanted, key=lambda each: (-each.shared, each.id)), others)


def _still_there(db: sqlite3.Connection, numbers: Sequence[int], where: Filters) -> list[int]:
    """Return the numbers of pages that were not deleted and that the filters let pass."""
    if where == Filters():
        gone = set(gone_pages(db))
        return [number for number in numbers if number not in gone]
    condition, parameters = conditions(where)
    found = db.execute(
        f"SELECT number FROM json_each(?) AS wanted JOIN page ON number = wanted.value WHERE {condition}",
        (json.dumps(numbers), *parameters),
    )
    return [number for (number,) in found]


def _candidate(card: Card, shared: int) -> Candidate:
    return Candidate(card.id, card.url, card.site, card.shingle_count, card.sketch_count, shared)


def count_pages(db: sqlite3.Connection, lookups: Sequence[Lookup], *, over: int) -> list[dict[int, int]]:
    """For each lookup, return its tokens that are on more than `over` pages, with the number of those pages."""
    deleted = set(gone_pages(db))
    counted = []
    for lookup in lookups:
        pages: Counter[int] = Counter()
        for token, some in Postings(db, lookup.field).pages(lookup.tokens):
            pages[token] += sum(page not in deleted for page in some) if deleted else len(some)
        counted.append({token: count for token, count in pages.items() if count > over})
    return counted
