"""Finds candidates with the postings of the file."""

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

MAX_PAGES_KEPT = 1_000  # pages of a token to keep in memory; the pages of a more frequent token are read again


class _TokenPages(NamedTuple):
    """The pages that have the tokens of a field."""

    known: dict[int, list[array[int]]]  # by token: the numbers of its pages, a list for each run of postings
    counts: dict[int, int]  # by token: its number of pages, if that exceeds `most` of _token_pages()


def find_candidates(
    db: sqlite3.Connection, questions: Sequence[LookupsOfQuestion], where: Filters, check: FrequencyCheck | None
) -> list[list[CandidatesOfLookup]]:
    """Find the pages of each lookup of each question, after the frequency check. Every block is read once."""
    tokens: dict[Field, set[int]] = {}
    for question in questions:
        for lookup in question.lookups:
            tokens.setdefault(lookup.field, set()).update(lookup.tokens)
    deleted = set(gone_pages(db))
    most = MAX_PAGES_KEPT if check is None else min(check.max_pages, MAX_PAGES_KEPT)
    token_pages = {field: _token_pages(db, field, some, deleted, most=most) for field, some in tokens.items()}
    over = 0 if check is None else check.max_pages

    def count(lookups: Sequence[Lookup]) -> list[dict[int, int]]:
        return [_frequent_tokens(lookup.tokens, token_pages[lookup.field], over) for lookup in lookups]

    found = []
    for lookups, sizes in questions:
        trimmed = lookups if check is None else check.trimmed(lookups, count)
        found.append([_candidates_of(db, lookup, token_pages[lookup.field], where, sizes) for lookup in trimmed])
    return found


def _token_pages(
    db: sqlite3.Connection, field: Field, tokens: Iterable[int], deleted: set[int], *, most: int
) -> _TokenPages:
    known: dict[int, list[array[int]]] = {}
    counts: Counter[int] = Counter()
    for token, pages in Postings(db, field).pages(tokens):
        counts[token] += sum(page not in deleted for page in pages) if deleted else len(pages)
        if counts[token] <= most:
            known.setdefault(token, []).append(pages)
        else:
            known.pop(token, None)
    return _TokenPages(known, {token: count for token, count in counts.items() if count > most})


def _frequent_tokens(tokens: Iterable[int], token_pages: _TokenPages, over: int) -> dict[int, int]:
    if not token_pages.counts:
        return {}
    counts = ((token, token_pages.counts.get(token, 0)) for token in tokens)
    return {token: count for token, count in counts if count > over}


def _candidates_of(
    db: sqlite3.Connection, lookup: Lookup, token_pages: _TokenPages, where: Filters, sizes: Sizes | None
) -> CandidatesOfLookup:
    shared: Counter[int] = Counter()
    tokens = set(lookup.tokens)
    for token in tokens:
        for pages in token_pages.known.get(token, ()):
            shared.update(pages)
    if again := tokens.intersection(token_pages.counts):
        for _, pages in Postings(db, lookup.field).pages(again):
            shared.update(pages)
    numbers = [number for number, count in shared.items() if count >= lookup.minimum]
    others = 0
    if lookup.most is not None and len(numbers) > lookup.most:
        numbers = _passing(db, numbers, where)
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


def _passing(db: sqlite3.Connection, numbers: Sequence[int], where: Filters) -> list[int]:
    """Return the numbers of the pages that were not deleted and that meet the filters."""
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
        token_pages = _token_pages(db, lookup.field, lookup.tokens, deleted, most=min(over, MAX_PAGES_KEPT))
        counted.append(_frequent_tokens(lookup.tokens, token_pages, over))
    return counted
