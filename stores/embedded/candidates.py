"""Finds candidates by the postings of the file."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import NamedTuple

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Field, Lookup
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.embedded.postings import Postings
from opensearch_winnow.stores.embedded.rows import CARD, card_of, conditions
from opensearch_winnow.stores.embedded.writes import gone_pages
from opensearch_winnow.stores.store import Candidate, CandidatesOfLookup, LookupsOfQuestion, Sizes

MAX_HELD = 1_000  # pages of a token that are kept in memory; those of a more frequent one are read again


class _Holders(NamedTuple):
    """The pages that have the tokens of a field."""

    known: dict[int, list[array[int]]]  # by token: the numbers of its pages, those of each run of postings
    counts: dict[int, int]  # by token: how many pages have it, if these are more than MAX_HELD


def find_candidates(
    db: sqlite3.Connection, questions: Sequence[LookupsOfQuestion], where: Filters, check: FrequencyCheck | None
) -> list[list[CandidatesOfLookup]]:
    """Find the pages of each lookup of each question, after the frequency check. Every block is read once."""
    tokens: dict[Field, set[int]] = {}
    for question in questions:
        for lookup in question.lookups:
            tokens.setdefault(lookup.field, set()).update(lookup.tokens)
    deleted = set(gone_pages(db))
    most = MAX_HELD if check is None else min(check.max_pages, MAX_HELD)
    holders = {field: _holders(db, field, some, deleted, most=most) for field, some in tokens.items()}
    over = 0 if check is None else check.max_pages

    def count(lookups: Sequence[Lookup]) -> list[dict[int, int]]:
        return [_frequent(lookup.tokens, holders[lookup.field], over) for lookup in lookups]

    found = []
    for lookups, sizes in questions:
        trimmed = lookups if check is None else check.trimmed(lookups, count)
        found.append([_found(db, lookup, holders[lookup.field], where, sizes) for lookup in trimmed])
    return found


def _holders(db: sqlite3.Connection, field: Field, tokens: Iterable[int], deleted: set[int], *, most: int) -> _Holders:
    known: dict[int, list[array[int]]] = {}
    counts: Counter[int] = Counter()
    for token, pages in Postings(db, field).pages(tokens):
        counts[token] += sum(page not in deleted for page in pages) if deleted else len(pages)
        if counts[token] <= most:
            known.setdefault(token, []).append(pages)
        else:
            known.pop(token, None)
    return _Holders(known, {token: count for token, count in counts.items() if count > most})


def _frequent(tokens: Iterable[int], holders: _Holders, over: int) -> dict[int, int]:
    if not holders.counts:
        return {}
    counts = ((token, holders.counts.get(token, 0)) for token in tokens)
    return {token: count for token, count in counts if count > over}


def _found(
    db: sqlite3.Connection, lookup: Lookup, holders: _Holders, where: Filters, sizes: Sizes | None
) -> CandidatesOfLookup:
    shared: Counter[int] = Counter()
    tokens = set(lookup.tokens)
    for token in tokens:
        for pages in holders.known.get(token, ()):
            shared.update(pages)
    if again := tokens.intersection(holders.counts):
        for _, pages in Postings(db, lookup.field).pages(again):
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
    return CandidatesOfLookup(lookup, sorted(wanted, key=lambda each: (-each.shared, each.id)), others)


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
        holders = _holders(db, lookup.field, lookup.tokens, deleted, most=min(over, MAX_HELD))
        counted.append(_frequent(lookup.tokens, holders, over))
    return counted
