"""Finds the pages that share tokens with a question, usually in one request."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.mappings.hash_tokens import tokens_of
from opensearch_winnow.mappings.opensearch_document import card_of, time_of
from opensearch_winnow.mappings.record import capture_id
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Field, Lookup
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.frequency import with_any
from opensearch_winnow.queries.dsl.overlap import (
    MAX_TOKENS_PER_QUERY,
    QuestionPart,
    either,
    overlap_parts,
    put_together,
    split_scores,
    uncounted,
)
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER, Search, best, best_by_doc_values, following
from opensearch_winnow.queries.dsl.ranked import without_arrival
from opensearch_winnow.stores.opensearch.index_client import EngineHit, IdAndSource, IndexClient, total
from opensearch_winnow.stores.store import Candidate, CandidatesOfLookup, LookupsOfQuestion

# The number of best candidates to return as whole documents: their texts are usually read next, and another request
# costs more. All others are returned from doc values: reading a document takes fifty times as long.
MAX_WHOLE_DOCUMENTS = 16
LIGHT_FIELDS = ("url", "site", "fetched_us", "shingle_count", "sketch_count", "minhash")
CACHE_SECONDS = 1.0  # for the documents of a question
MAX_ARRIVALS = 100_000  # to remember
NO_ARRIVAL = 2**63 - 1  # the sort value of a page without an arrival, which other software has written
MAX_TOKENS_OF_TWO = MAX_TOKENS_PER_QUERY - 20  # of two lookups in one query, with room for the filters of both


class _TokenQuery(NamedTuple):
    """A lookup in the form of a query: tokens as strings, in parts that fit a query."""

    field: Field
    minimum: int
    parts: list[QuestionPart]
    most: int | None

    @classmethod
    def of(cls, lookup: Lookup) -> _TokenQuery:
        minimum = max(lookup.minimum, 1)
        return cls(lookup.field, minimum, overlap_parts(tokens_of(lookup.tokens), minimum), lookup.most)


class _QuestionSearches(NamedTuple):
    """The lookups of a question, and the searches for them."""

    lookups: Sequence[Lookup]
    queries: list[_TokenQuery]
    searches: list[Search]
    most: int | None  # the number of pages to return; None: all

    @classmethod
    def of(cls, lookups: Sequence[Lookup], filters: Sequence[Clause]) -> _QuestionSearches:
        queries = [_TokenQuery.of(lookup) for lookup in lookups]
        return cls(lookups, queries, _searches(queries, filters), _pages_wanted(queries))

    def checks(self, check: FrequencyCheck) -> list[Search]:
        """Return the searches that count the pages with any of the tokens, one for each field that `check` checks."""
        tokens = [(each.field, [token for part in each.parts for token in part.tokens]) for each in self.queries]
        return [with_any(field, some, up_to=check.max_pages + 1) for field, some in tokens if field in check.fields]


class _CandidatePage(NamedTuple):
    """The fields of a candidate, besides its shared tokens."""

    id: str
    url: str
    site: str
    shingle_count: int
    sketch_count: int
    minhash: bytes

    def candidate(self, shared: int) -> Candidate:
        return Candidate(*self[:-1], shared, self.minhash)


class Overlaps:
    """Finds candidates by their tokens. Keeps their arrivals, and for CACHE_SECONDS the documents found last."""

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self._documents: dict[str, IdAndSource] = {}
        self._arrivals: dict[str, int] = {}
        self._until = 0.0

    def find(
        self, questions: Sequence[LookupsOfQuestion], filters: Sequence[Sequence[Clause]]
    ) -> list[list[CandidatesOfLookup]]:
        """Find the candidates of each lookup of each question; `filters` has a list for each question."""
        posed = [_QuestionSearches.of(each.lookups, some) for each, some in zip(questions, filters, strict=True)]
        return self._candidates(posed, self._index.searches([search for each in posed for search in each.searches]))

    def find_rare(
        self, questions: Sequence[LookupsOfQuestion], filters: Sequence[Sequence[Clause]], check: FrequencyCheck
    ) -> list[list[CandidatesOfLookup] | None]:
        """Find the candidates of each question in one request; None for a question with a possibly frequent token.

        The request also counts the pages that have any of the tokens. If these are few, no single token is on many.
        """
        posed = [_QuestionSearches.of(each.lookups, some) for each, some in zip(questions, filters, strict=True)]
        checks = [each.checks(check) for each in posed]
        searches = [search for some, each in zip(checks, posed, strict=True) for search in (*some, *each.searches)]
        answers = iter(self._index.searches(searches))
        rare, found = [], []
        for some, each in zip(checks, posed, strict=True):
            counts = [total(next(answers)) for _ in some]
            own = [next(answers) for _ in each.searches]
            rare.append(all(pages <= check.max_pages for pages in counts))
            found += own if rare[-1] else []
        candidates = iter(self._candidates([each for each, is_rare in zip(posed, rare, strict=True) if is_rare], found))
        return [next(candidates) if is_rare else None for is_rare in rare]

    def documents(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, IdAndSource]:
        """Return the documents of candidates by their ids: from the cache, or else with these fields from the index.

        The id of a document that other software has written may differ from that of the candidate.
        """
        if time.monotonic() > self._until:
            self.forget()
        found = {id_: self._documents[id_] for id_ in ids if id_ in self._documents}
        unread = [id_ for id_ in ids if id_ not in found]
        few = len(unread) <= MAX_WHOLE_DOCUMENTS and all(id_ in self._arrivals for id_ in unread)
        wanted = () if few else fields  # a candidate whose card is read is usually compared next
        read = {id_: (id_, source) for id_, source in self._index.sources(unread, wanted).items()}
        arrivals = {self._arrivals[id_]: id_ for id_ in unread if id_ not in read and id_ in self._arrivals}
        if arrivals:
            elsewhere = self._index.documents_at(list(arrivals), wanted)
            read |= {arrivals[arrival]: document for arrival, document in elsewhere.items()}
        if few and time.monotonic() <= self._until:
            self._documents |= read
        return found | read

    def forget(self) -> None:
        """Forget documents, which may have changed. Arrivals never change."""
        self._documents = {}

    def _candidates(
        self, posed: Sequence[_QuestionSearches], answers: Sequence[dict[str, Any]]
    ) -> list[list[CandidatesOfLookup]]:
        """Make candidates from the `answers` to all searches of the questions."""
        searches = [search for each in posed for search in each.searches]
        pages, counted = self._counts(searches, answers, [each.most for each in posed for _ in each.searches])
        keys = {page.id: key for key, page in pages.items()}
        self._until = time.monotonic() + CACHE_SECONDS * max(len(posed), 1)  # the questions are answered in turn
        found: list[
            list[list[dict[str, int]]]
        ] = []  # shared tokens by id: of each part of each lookup of each question
        others: list[int] = []
        more: list[tuple[list[dict[str, int]], Search]] = []
        start = 0
        for each in posed:
            own = counted[start : start + len(each.searches)]
            others.append(0 if each.most is None else max(total(answers[start]) - len(own[0]), 0))
            start += len(own)
            counts = iter(split_scores(own[0]) if _fit_one_query(each.queries) else own)
            found.append([[next(counts) for _ in query.parts] for query in each.queries])
            more += [
                (shared, best(part.overlap_of(query.field, _with_keys([keys[id_] for id_ in some]))))
                for query, shared in zip(each.queries, found[-1], strict=True)
                if len(query.parts) > 1
                for part, ids in zip(query.parts, uncounted(query.parts, shared, query.minimum), strict=True)
                for some in batches(ids, MAX_HITS_PER_ANSWER)
            ]
        rest = self._index.searches([search for _, search in more])
        for (shared, _), answer in zip(more, rest, strict=True):
            shared.append({pages[_key(hit)].id: round(hit["_score"]) for hit in answer["hits"]["hits"]})
        return [
            [
                CandidatesOfLookup(
                    lookup,
                    sorted(
                        (pages[keys[id_]].candidate(n) for id_, n in put_together(shared, query.minimum).items()),
                        key=lambda candidate: (-candidate.shared, candidate.id),
                    ),
                    left,
                )
                for lookup, query, shared in zip(each.lookups, each.queries, parts, strict=True)
            ]
            for each, parts, left in zip(posed, found, others, strict=True)
        ]

    def _counts(
        self, searches: Sequence[Search], answers: Sequence[dict[str, Any]], most: Sequence[int | None]
    ) -> tuple[dict[int | str, _CandidatePage], list[dict[str, int]]]:
        """Return the best pages by `_key`, up to `most` for each search, and the shared tokens of each search by id."""
        pages: dict[int | str, _CandidatePage] = {}
        found: list[dict[str, int]] = [{} for _ in searches]
        waiting = list(zip(range(len(searches)), searches, answers, strict=True))
        while waiting:
            rest: list[tuple[int, Search]] = []
            for number, search, answer in waiting:
                hits: list[EngineHit] = answer["hits"]["hits"]
                for hit in self._identified(search, hits):
                    key = _key(hit)
                    if key not in pages:
                        pages[key] = _page_of(hit)
                    if "_source" in hit:
                        self._documents[pages[key].id] = hit["_id"], hit["_source"]
                    found[number][pages[key].id] = round(hit["_score"])
                more = following(search, hits)
                room = most[number]
                wanted = MAX_HITS_PER_ANSWER if room is None else min(room - len(found[number]), MAX_HITS_PER_ANSWER)
                if more is not None and wanted > 0:
                    light = best_by_doc_values(more["query"], LIGHT_FIELDS)
                    rest.append((number, light | {"search_after": more["search_after"], "size": wanted}))
            some = self._index.searches([search for _, search in rest])
            waiting = [(number, search, answer) for (number, search), answer in zip(rest, some, strict=True)]
        if len(self._arrivals) > MAX_ARRIVALS:
            self._arrivals = {}
        self._arrivals |= {page.id: key for key, page in pages.items() if isinstance(key, int)}
        return pages, found

    def _identified(self, search: Search, hits: Sequence[EngineHit]) -> Iterator[EngineHit]:
        """Yield the hits of a search, as whole documents if doc values are not enough to know the id.

        They are not if other software has written a document without an arrival, or if the URL is very long.
        """
        light = [hit for hit in hits if "_source" not in hit]
        long = [hit["sort"][-1] for hit in light if "url" not in hit["fields"]]
        documents = self._index.documents_at(long) if long else {}
        for hit in hits:
            arrival = hit["sort"][-1]
            if arrival in documents:
                id_, source = documents[arrival]
                yield hit | {"_id": id_, "_source": source}
            elif arrival < NO_ARRIVAL or "_source" in hit:
                yield hit
        if any(hit["sort"][-1] == NO_ARRIVAL for hit in hits) and (light or len(hits) == search["size"]):
            yield from self._index.hits(best(without_arrival(search["query"]), fields=True))


def _key(hit: EngineHit) -> int | str:
    """Return the arrival of a hit; its id if other software has written it without an arrival."""
    arrival: int = hit["sort"][-1]
    return arrival if arrival < NO_ARRIVAL else str(hit["_id"])


def _with_keys(keys: Sequence[int | str]) -> Clause:
    """Return a query for the pages with these `_key`s."""
    arrivals, ids = [key for key in keys if isinstance(key, int)], [key for key in keys if isinstance(key, str)]
    return {"bool": {"should": [{"terms": {"arrival": arrivals}}, {"ids": {"values": ids}}]}}


def _page_of(hit: EngineHit) -> _CandidatePage:
    """Make a page from a whole document, or from its LIGHT_FIELDS."""
    if "_source" in hit:
        source = hit["_source"]
        card = card_of(hit["_id"], source)
        minhash = b64decode(source.get("minhash") or "")
        return _CandidatePage(card.id, card.url, card.site, card.shingle_count, card.sketch_count, minhash)
    value = {name: values[0] for name, values in hit["fields"].items()}
    id_ = value.get("id") or capture_id(value["url"], time_of(value.get("fetched_us")))
    minhash = b64decode(value.get("minhash", "") + "==")
    return _CandidatePage(
        id_, value["url"], value.get("site", ""), value["shingle_count"], value["sketch_count"], minhash
    )


def _searches(queries: Sequence[_TokenQuery], filters: Sequence[Clause]) -> list[Search]:
    """Return a search for each part of the queries, or one for all of them. The first returns whole documents."""
    overlaps = [part.overlap(each.field, filters) for each in queries for part in each.parts]
    if _fit_one_query(queries):
        overlaps = [either(*overlaps)]
    most = _pages_wanted(queries)
    whole = [
        best(query, size=min(MAX_WHOLE_DOCUMENTS, most or MAX_WHOLE_DOCUMENTS), fields=True) for query in overlaps[:1]
    ]
    if most is not None:
        whole[0]["track_total_hits"] = True
    return whole + [best_by_doc_values(query, LIGHT_FIELDS) for query in overlaps[1:]]


def _pages_wanted(queries: Sequence[_TokenQuery]) -> int | None:
    """Return the number of pages to ask for; None for all, which the sum of several parts needs."""
    return queries[0].most if [len(each.parts) for each in queries] == [1] else None


def _fit_one_query(queries: Sequence[_TokenQuery]) -> bool:
    sizes = [len(part.tokens) for each in queries for part in each.parts]
    return len(queries) == len(sizes) == 2 and sum(sizes) <= MAX_TOKENS_OF_TWO
