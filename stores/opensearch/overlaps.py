"""Pages that share tokens, however many tokens and pages there are: most of the time in one request."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
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
from opensearch_winnow.queries.lookups import Field, Lookup
from opensearch_winnow.stores.opensearch.cluster import Cluster, Hit, total
from opensearch_winnow.stores.store import Candidate

# Pages that come as a whole, because their texts are mostly asked for next: the engine has the document in its hands in
# any case, to take fields out of it costs time, and so does another request.
WHOLE = 16
REMEMBERED = 1.0  # seconds
FOR_TWO = MAX_TOKENS_PER_QUERY - 20  # tokens, as each of two has its filters


class _Asked(NamedTuple):
    field: Field
    minimum: int
    parts: list[Part]

    @classmethod
    def of(cls, lookup: Lookup) -> _Asked:
        minimum = max(lookup.minimum, 1)
        return cls(lookup.field, minimum, parts(tokens_of(lookup.tokens), minimum))


class Overlaps:
    """Looks up tokens, and remembers for a moment the pages that were found last."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._sources: dict[str, dict[str, Any]] = {}
        self._until = 0.0

    def find(self, lookups: Sequence[Lookup], where: Filters) -> list[list[Candidate]]:
        """For each lookup its pages: most shared first, then by id."""
        asked = [_Asked.of(lookup) for lookup in lookups]
        searches = _searches(asked, where)
        return self._candidates(asked, searches, self._cluster.searches(searches))

    def find_rare(
        self, lookups: Sequence[Lookup], where: Filters, *, over: int, checked: Collection[Field]
    ) -> list[list[Candidate]] | None:
        """The same; but None if a token may be on more than so many pages, in the fields that are checked."""
        asked = [_Asked.of(lookup) for lookup in lookups]
        searches = _searches(asked, where)
        tokens = [(each.field, [token for part in each.parts for token in part.tokens]) for each in asked]
        checks = [with_any(field, some, up_to=over + 1) for field, some in tokens if field in checked]
        answers = self._cluster.searches([*checks, *searches])
        if any(total(answer) > over for answer in answers[: len(checks)]):
            return None
        return self._candidates(asked, searches, answers[len(checks) :])

    def remembered(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Some of these, by id, as a whole."""
        if time.monotonic() > self._until:
            self.forget()
        return {id_: self._sources[id_] for id_ in ids if id_ in self._sources}

    def forget(self) -> None:
        self._sources = {}

    def _candidates(
        self, asked: Sequence[_Asked], searches: Sequence[Search], answers: Sequence[dict[str, Any]]
    ) -> list[list[Candidate]]:
        cards: dict[str, Card] = {}
        counted = self._counts(searches, answers, cards)
        counts = iter(split_scores(counted[0]) if _fit_one_query(asked) else counted)
        found = [[next(counts) for _ in each.parts] for each in asked]
        more = [
            (number, best(part.overlap_of(each.field, some)))
            for number, each in enumerate(asked)
            if len(each.parts) > 1
            for part, ids in zip(each.parts, uncounted(each.parts, found[number], each.minimum), strict=True)
            for some in _few(ids)
        ]
        searches = [search for _, search in more]
        rest = self._counts(searches, self._cluster.searches(searches), {})
        for (number, _), shared in zip(more, rest, strict=True):
            found[number].append(shared)
        return [
            sorted(
                (Candidate(cards[id_], shared) for id_, shared in put_together(each, minimum).items()),
                key=lambda candidate: (-candidate.shared, candidate.card.id),
            )
            for each, (_, minimum, _) in zip(found, asked, strict=True)
        ]

    def _counts(
        self, searches: Sequence[Search], answers: Sequence[dict[str, Any]], cards: dict[str, Card]
    ) -> list[dict[str, int]]:
        """For each search the shared tokens by id. The cards of the pages are added to `cards`."""
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
            some = self._cluster.searches([search for _, search in rest])
            waiting = [(number, search, answer) for (number, search), answer in zip(rest, some, strict=True)]
        if whole:
            self._sources, self._until = whole, time.monotonic() + REMEMBERED
        return found


def _searches(asked: Sequence[_Asked], where: Filters) -> list[Search]:
    filters = conditions(where)
    queries = [part.overlap(each.field, filters) for each in asked for part in each.parts]
    if _fit_one_query(asked):
        queries = [either(*queries)]
    return [best(query, size=WHOLE, fields=True) for query in queries]


def _fit_one_query(asked: Sequence[_Asked]) -> bool:
    sizes = [len(part.tokens) for each in asked for part in each.parts]
    return len(asked) == len(sizes) == 2 and sum(sizes) <= FOR_TWO


def _few(ids: list[str]) -> Iterator[list[str]]:
    return (ids[start : start + MAX_RESULT_WINDOW] for start in range(0, len(ids), MAX_RESULT_WINDOW))
