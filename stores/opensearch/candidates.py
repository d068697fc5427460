"""Finds the pages that share tokens with a question, usually in one request."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.hash_tokens import tokens_of
from opensearch_winnow.mappings.opensearch_document import CARD_FIELDS, card_of
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.dsl.frequency import with_any
from opensearch_winnow.queries.dsl.overlap import (
    MAX_TOKENS_PER_QUERY,
    Part,
    either,
    parts,
    put_together,
    split_scores,
    uncounted,
)
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW, Search, best, following
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.frequency_check import FrequencyCheck
from opensearch_winnow.queries.lookups import Field, Lookup
from opensearch_winnow.stores.opensearch.index_client import Hit, IndexClient, total
from opensearch_winnow.stores.store import Candidate, Candidates

# The first pages of an answer come as whole documents, because their texts are usually read next. The engine loads the
# document in any case; extracting fields from it, or sending another request, costs more.
WHOLE_DOCUMENTS = 16
CACHE_SECONDS = 1.0
MAX_TOKENS_OF_TWO = MAX_TOKENS_PER_QUERY - 20  # of two lookups in one query, with room for the filters of both


class _TokenQuery(NamedTuple):
    """A lookup as the engine takes it: tokens as strings, in parts that fit a query."""

    field: Field
    minimum: int
    parts: list[Part]

    @classmethod
    def of(cls, lookup: Lookup) -> _TokenQuery:
        minimum = max(lookup.minimum, 1)
        return cls(lookup.field, minimum, parts(tokens_of(lookup.tokens), minimum))


class Overlaps:
    """Finds candidates by their tokens, and caches the documents found last for a moment."""

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self._sources: dict[str, dict[str, Any]] = {}
        self._until = 0.0

    def find(self, lookups: Sequence[Lookup], where: Filters) -> list[Candidates]:
        """Find the candidates of each lookup."""
        queries = [_TokenQuery.of(lookup) for lookup in lookups]
        searches = _searches(queries, where)
        return self._candidates(lookups, queries, searches, self._index.searches(searches))

    def find_rare(self, lookups: Sequence[Lookup], where: Filters, check: FrequencyCheck) -> list[Candidates] | None:
        """Find the candidates if no token is frequent, in one request; None if some token may be.

        It counts the pages that have any of the tokens. If these are few, no single token is on many.
        """
        queries = [_TokenQuery.of(lookup) for lookup in lookups]
        searches = _searches(queries, where)
        tokens = [(each.field, [token for part in each.parts for token in part.tokens]) for each in queries]
        checks = [with_any(field, some, up_to=check.max_pages + 1) for field, some in tokens if field in check.fields]
        answers = self._index.searches([*checks, *searches])
        if any(total(answer) > check.max_pages for answer in answers[: len(checks)]):
            return None
        return self._candidates(lookups, queries, searches, answers[len(checks) :])

    def cached(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the cached documents among these pages, by id."""
        if time.monotonic() > self._until:
            self.forget()
        return {id_: self._sources[id_] for id_ in ids if id_ in self._sources}

    def forget(self) -> None:
        self._sources = {}

    def _candidates(
        self,
        lookups: Sequence[Lookup],
        queries: Sequence[_TokenQuery],
        searches: Sequence[Search],
        answers: Sequence[dict[str, Any]],
    ) -> list[Candidates]:
        cards: dict[str, Card] = {}
        counted = self._counts(searches, answers, cards)
        counts = iter(split_scores(counted[0]) if _fit_one_query(queries) else counted)
        found = [[next(counts) for _ in each.parts] for each in queries]
        more = [
            (number, best(part.overlap_of(each.field, some)))
            for number, each in enumerate(queries)
            if len(each.parts) > 1
            for part, ids in zip(each.parts, uncounted(each.parts, found[number], each.minimum), strict=True)
            for some in _batches(ids)
        ]
        searches = [search for _, search in more]
        rest = self._counts(searches, self._index.searches(searches), {})
        for (number, _), shared in zip(more, rest, strict=True):
            found[number].append(shared)
        return [
            Candidates(
                lookup,
                sorted(
                    (Candidate(cards[id_], shared) for id_, shared in put_together(counts, query.minimum).items()),
                    key=lambda candidate: (-candidate.shared, candidate.card.id),
                ),
            )
            for lookup, query, counts in zip(lookups, queries, found, strict=True)
        ]

    def _counts(
        self, searches: Sequence[Search], answers: Sequence[dict[str, Any]], cards: dict[str, Card]
    ) -> list[dict[str, int]]:
        """For each search, return the number of shared tokens by id, and add the cards of the pages to `cards`."""
        found: list[dict[str, int]] = [{} for _ in searches]
        whole: dict[str, dict[str, Any]] = {}
        waiting = list(zip(range(len(searches)), searches, answers, strict=True))
        while waiting:
            rest: list[tuple[int, Search]] = []
            for number, search, answer in waiting:
                hits: list[Hit] = answer["hits"]["hits"]
                found[number].update((hit["_id"], round(hit["_score"])) for hit in hits)
                for id_, source in ((hit["_id"], hit["_source"]) for hit in hits if "_source" in hit):
                    if id_ not in cards:
                        cards[id_] = card_of(id_, source)
                    if "text" in source:
                        whole[id_] = source
                more = following(search, hits)
                if more is not None:
                    rest.append(
                        (number, more | {"size": MAX_RESULT_WINDOW, "_source": search["_source"] and list(CARD_FIELDS)})
                    )
            some = self._index.searches([search for _, search in rest])
            waiting = [(number, search, answer) for (number, search), answer in zip(rest, some, strict=True)]
        if whole:
            self._sources, self._until = whole, time.monotonic() + CACHE_SECONDS
        return found


def _searches(queries: Sequence[_TokenQuery], where: Filters) -> list[Search]:
    filters = conditions(where)
    overlaps = [part.overlap(each.field, filters) for each in queries for part in each.parts]
    if _fit_one_query(queries):
        overlaps = [either(*overlaps)]
    return [best(query, size=WHOLE_DOCUMENTS, fields=True) for query in overlaps]


def _fit_one_query(queries: Sequence[_TokenQuery]) -> bool:
    sizes = [len(part.tokens) for each in queries for part in each.parts]
    return len(queries) == len(sizes) == 2 and sum(sizes) <= MAX_TOKENS_OF_TWO


def _batches(ids: list[str]) -> Iterator[list[str]]:
    return (ids[start : start + MAX_RESULT_WINDOW] for start in range(0, len(ids), MAX_RESULT_WINDOW))
