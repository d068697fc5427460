"""Examines the hits of any search in order, and groups them. Has no network: a driver calls the client.

The signatures of the hits are read without documents, in the order of the caller's search. Documents are then fetched
for the hits that are shown, and where a text has to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any, NamedTuple

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW, Search
from opensearch_winnow.queries.hit_documents import Hit, HitDocuments, HitTexts
from opensearch_winnow.queries.hit_groups import response_total
from opensearch_winnow.queries.representatives import Join, Pair, Representatives

# Within a shard, no two documents have the same number. Unlike `_id`, it is sorted without loading ids into memory.
TIEBREAKER = "_seq_no"
BY_SCORE: list[Any] = [{"_score": "desc"}, {"_score": {"order": "desc"}}, "_score"]  # ways to write the usual order
# Options of a search that are only needed for the hits that are shown.
SHOWING = (
    "_source",
    "explain",
    "fields",
    "highlight",
    "script_fields",
    "seq_no_primary_term",
    "stored_fields",
    "version",
)
# Options that decide which hits there are. The hits that are shown are known.
FINDING = ("aggregations", "aggs", "min_score", "post_filter", "track_total_hits")
DOCUMENTS_PER_REQUEST = 1_000


class Call(NamedTuple):
    """A method of the client to call, with its arguments."""

    method: str
    arguments: dict[str, Any]


Key = tuple[str, str, str | None]  # index, id and routing of a document
Steps = Generator[Call, Any, Mapping[str, Any]]


class ExaminedHits:
    """The hits of one search as far as they were examined, and the groups among them.

    `body` is the caller's search without paging, and `search` returns the steps to the answer of a search like it. How
    the hits are divided into batches makes no difference to the groups.
    """

    def __init__(
        self,
        body: Search,
        search: Callable[[Search], Steps],
        scheme: Scheme,
        threshold: float,
        *,
        below: str,
        texts: HitTexts,
        count: bool = True,
    ) -> None:
        prefix = f"{below}." if below else ""
        self.body = body
        self.total: int | None = None  # hits, if the engine has counted them
        self.first: Mapping[str, Any] = {}  # the first answer of the engine, with totals and aggregations
        self.representatives: list[int] = []  # places among the hits
        self.joins: dict[int, Join] = {}  # by the place of the member
        self.exhausted = False  # there are no more hits
        self._search = search
        self._texts = texts
        self._documents = HitDocuments(scheme, prefix, texts)
        self._grouping = Representatives(scheme, threshold)
        self._read: set[int] = set()  # places of the hits whose text was read
        self._count = count  # whether the first search counts hits and aggregates
        self._shards = 1
        self._last_hits: list[Hit] = []  # of the last answer, those with the greatest sort values
        wanted = body.get("docvalue_fields", [])
        named = {each["field"] if isinstance(each, Mapping) else each for each in wanted}
        self._added = {f"{prefix}{name}" for name in self._field_names} - named
        sort = body.get("sort") or BY_SCORE[:1]
        order = [*(sort if isinstance(sort, list | tuple) else [sort]), {TIEBREAKER: "asc"}]
        self._order_length = len(order)  # with a point in time, Elasticsearch adds another value
        self._signatures: Search = {
            **without(body, SHOWING),
            "sort": order,
            "track_scores": body.get("track_scores", all(each in BY_SCORE for each in order[:-1])),
            "docvalue_fields": [*wanted, *sorted(self._added)],
            "_source": False,
        }

    @property
    def hits(self) -> Sequence[Hit]:
        """The hits that were examined, in order."""
        return self._documents.hits

    @property
    def without_fields(self) -> int:
        return self._documents.without_fields

    def examine(self, wanted: int) -> Generator[Call, Any, None]:
        """Read the signatures of up to `wanted` more hits, and group them."""
        search = self._signatures | {"size": wanted + len(self._last_hits)}
        first = not self.hits
        counting = first and self._count
        if not counting:
            search = without(search, ("aggregations", "aggs")) | {"track_total_hits": False}
        if not first:
            # Documents of several shards may have the same number. So those with the last values are read again.
            *values, number = self._order(self._last_hits[-1])
            search["search_after"] = [*values, number - 1]
        response = yield from self._answer(search)
        if counting:
            self.first = response
            self.total = response_total(response)
        found: list[Hit] = response["hits"]["hits"]
        seen = set(map(hit_key, self._last_hits))
        new = [hit for hit in found if hit_key(hit) not in seen]
        if found:
            self._last_hits = [hit for hit in found if self._order(hit) == self._order(found[-1])]
        yield from self._prepare(new)
        places = [self._documents.add(hit) for hit in new]
        self.exhausted = len(found) < search["size"] or len(self.hits) == self.total
        batch = self._grouping.begin([self._documents.sketched[place] for place in places])
        while pairs := batch.undecided:
            yield from self._read_texts(pairs)
            batch.settle(self._documents.resemblances(pairs))
        for place, join in zip(places, self._grouping.commit(batch), strict=True):
            if join is None:
                self.representatives.append(place)
            else:
                self.joins[place] = join

    def shown(self, places: Sequence[int]) -> Generator[Call, Any, dict[int, Hit]]:
        """Return the hits at these places as the caller's search asks for them. Those deleted since are missing."""
        found = yield from self.fetched([self.hits[place] for place in places], without(self.body, FINDING))
        keys = {place: hit_key(self.hits[place]) for place in places}
        return {place: found[key] for place, key in keys.items() if key in found}

    def bare(self, place: int) -> Hit:
        """Return an examined hit without what was added to the caller's search."""
        hit = self.hits[place]
        bare = {name: value for name, value in hit.items() if name not in ("fields", "sort", "_version")}
        if fields := without(hit.get("fields", {}), self._added):
            bare["fields"] = fields
        return bare

    def fetched(self, hits: Sequence[Hit], search: Search) -> Generator[Call, Any, dict[Key, Hit]]:
        """Return these hits as `search` asks for them. Its query only scores and highlights them."""
        by_key: dict[Key, Hit] = {}
        for start in range(0, len(hits), DOCUMENTS_PER_REQUEST):
            keys = [hit_key(hit) for hit in hits[start : start + DOCUMENTS_PER_REQUEST]]
            query = {"bool": {"filter": [_these(keys)], "should": [search.get("query") or {"match_all": {}}]}}
            # With routing, each shard may have a document of the same id.
            size = min(len(keys) * self._shards, MAX_RESULT_WINDOW)
            response = yield from self._answer(search | {"query": query, "size": size, "track_total_hits": False})
            by_key |= {hit_key(hit): hit for hit in response["hits"]["hits"]}
        return by_key

    @property
    def _field_names(self) -> Sequence[str]:
        """The fields of a hit that are read."""
        return "shingle_count", "minhash"

    def _prepare(self, hits: Sequence[Hit]) -> Generator[Call, Any, None]:  # noqa: ARG002 (for subclasses)
        """Change hits before they are grouped."""
        yield from ()

    def _order(self, hit: Hit) -> list[Any]:
        order: list[Any] = hit["sort"][: self._order_length]
        return order

    def _read_texts(self, pairs: Sequence[Pair]) -> Generator[Call, Any, None]:
        unread = {place for pair in pairs for place in pair} - self._read if self._texts.paths else set()
        self._read |= unread
        found = yield from self.fetched([self.hits[place] for place in sorted(unread)], {"_source": self._texts.paths})
        for place in unread:
            if document := found.get(hit_key(self.hits[place])):
                self._documents.read_text(place, document)

    def _answer(self, search: Search) -> Steps:
        response = yield from self._search(search)
        self._shards = response["_shards"]["total"]
        return response


def hit_key(hit: Hit) -> Key:
    """Return what tells a hit from all others."""
    return hit["_index"], hit["_id"], hit.get("_routing")


def without(mapping: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a mapping without some of its names."""
    return {name: value for name, value in mapping.items() if name not in names}


def _these(keys: Sequence[Key]) -> Clause:
    ids: dict[str, list[str]] = {}
    for index, id_, _ in keys:
        ids.setdefault(index, []).append(id_)
    each = [[{"term": {"_index": index}}, {"ids": {"values": some}}] for index, some in ids.items()]
    return {"bool": {"should": [{"bool": {"filter": both}} for both in each]}}
