"""Asks a store a single question, by tokens or by words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.store import CandidatesOfLookup, Hit, LookupsOfQuestion, Sizes, Store


class Hits(NamedTuple):
    total: int  # pages, exactly
    hits: list[Hit]


def candidates(
    store: Store,
    lookups: Sequence[Lookup],
    where: Filters = Filters(),
    check: FrequencyCheck | None = None,
    sizes: Sizes | None = None,
) -> list[CandidatesOfLookup]:
    """Return the candidates of each lookup of one question."""
    (found,) = store.candidates([LookupsOfQuestion(lookups, sizes)], where, check)
    return found


def search(
    store: Store, words: Words, where: Filters = Filters(latest=True), *, limit: int = 10, offset: int = 0
) -> Hits:
    """Return the hits from `offset` on, with snippets."""
    with store.view(words, where) as view:
        hits = list(view.hits(offset, offset + limit))
        return Hits(view.total, hits)
