"""Reads the hits of any search of an engine for grouping. It yields requests as steps; the caller sends them.

The signatures of the hits are read without documents, in the order of the caller's search. Documents are then fetched
for the hits that are shown, and where a text has to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER, Search
from opensearch_winnow.queries.searching.grouping import Examined, Grouping, GroupsOfPage, Steps
from opensearch_winnow.queries.searching.hit_documents import Hit, HitDocuments, HitTexts
from opensearch_winnow.queries.searching.hit_groups import FoldedHit, HitGroup, HitMember, hit_member, response_total
from opensearch_winnow.queries.searching.representatives import GroupingBatch, Join

# Within a shard, no two documents have the same number. Unlike `_id`, it is sorted without loading ids into memory.
TIEBREAKER = "_seq_no"
NO_FIELDS = ("_score", "_doc", "_shard_doc", "_geo_distance", "_script")  # keys of a sort that every document has
BY_SCORE: list[Any] = [{"_score": "desc"}, {"_score": {"order": "desc"}}, "_score"]  # ways to write the usual order
# Options of a search that only affect the hits that are shown.
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
# Options that decide which hits are found. A request for known hits leaves them out.
FINDING = ("aggregations", "aggs", "min_score", "post_filter", "track_total_hits")
DOCUMENTS_PER_REQUEST = 1_000
TEXTS_PER_REQUEST = 100  # documents with their texts

Key = tuple[str, str, str | None]  # index, id and routing of a document
Answer = Mapping[str, Any]  # of an engine


class EngineHits:
    """The hits of one search, as far as they were read: a source for `Grouping`.

    `body` is the caller's search without paging, and `search` returns the steps to the answer of a search like it.
    """

    def __init__(
        self,
        body: Search,
        search: Callable[[Search], Steps[Answer]],
        scheme: Scheme,
        *,
        below: str,
        texts: HitTexts,
        count: bool = True,
    ) -> None:
        prefix = f"{below}." if below else ""
        self.body = body
        self.total: int | None = None  # hits, if the engine has counted them
        self.first: Answer = {}  # the first answer of the engine, with totals and aggregations
        self.exhausted = False  # there are no more hits
        self._search = search
        self._texts = texts
        self._documents = HitDocuments(scheme, prefix, texts)
        self._with_text: set[int] = set()  # ranks of the hits whose text was read
        self._count = count  # whether the first search counts hits and aggregates
        self._shards = 1
        self._last_hits: list[Hit] = []  # hits of the last answer with the greatest sort values
        wanted = body.get("docvalue_fields", [])
        named = {each["field"] if isinstance(each, Mapping) else each for each in wanted}
        self._added = {f"{prefix}{name}" for name in self._field_names} - named
        sort = body.get("sort") or BY_SCORE[:1]
        keys = sort if isinstance(sort, list | tuple) else [sort]
        order = [*map(_with_missing, keys), {TIEBREAKER: "asc"}]
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
        """The hits that were read, in order."""
        return self._documents.hits

    @property
    def without_fields(self) -> int:
        return self._documents.without_fields

    def read(self, wanted: int) -> Steps[Examined]:
        """Read the signatures of the next `wanted` hits."""
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
        renewed = yield from self._renew(new)
        ranks = [self._documents.add(hit, renewed.get(hit_key(hit))) for hit in new]
        self.exhausted = len(found) < search["size"] or len(self.hits) == self.total
        return Examined([self._documents.sketched[rank] for rank in ranks])

    def compare(self, batch: GroupingBatch, groups: int) -> Steps[Sequence[float | None]]:  # noqa: ARG002 (hits are shown later)
        """Compare the hits whose texts the search has, in pairs."""
        pairs = batch.undecided
        unread = {rank for pair in pairs for rank in pair} - self._with_text if self._texts.paths else set()
        self._with_text |= unread
        found = yield from self.fetched([self.hits[rank] for rank in sorted(unread)], {"_source": self._texts.paths})
        for rank in unread:
            if document := found.get(hit_key(self.hits[rank])):
                self._documents.read_text(rank, document)
        return self._documents.resemblances(pairs)

    def short_copies(self, ranks: range) -> Steps[Mapping[int, Join]]:  # noqa: ARG002
        """Return none: documents of other programs may have titles that winnow does not know."""
        yield from ()
        return {}

    def groups(self, grouping: Grouping, page: GroupsOfPage) -> Steps[tuple[list[HitGroup], list[FoldedHit]]]:
        """Return the groups of a page, and its folded hits.

        Representatives are as the caller's search asks for them. Groups whose representative was deleted are missing.
        """

        def member(rank: int) -> HitMember:
            return hit_member(self._bare(rank), grouping.joins[rank].similarity)

        representatives = {rank: hit_key(self.hits[rank]) for rank in page.members}
        found = yield from self.fetched([self.hits[rank] for rank in representatives], without(self.body, FINDING))
        groups = [
            HitGroup(found[key], list(map(member, page.members[rank])), 1 + len(page.members[rank]))
            for rank, key in representatives.items()
            if key in found
        ]
        folded = [FoldedHit(self._bare(grouping.joins[rank].representative), member(rank)) for rank in page.folded]
        return groups, folded

    def _bare(self, rank: int) -> Hit:
        """Return a hit without the fields that were added to the caller's search."""
        hit = self.hits[rank]
        bare = {name: value for name, value in hit.items() if name not in ("fields", "sort", "_version")}
        if fields := without(hit.get("fields", {}), self._added):
            bare["fields"] = fields
        return bare

    def fetched(self, hits: Sequence[Hit], search: Search) -> Steps[dict[Key, Hit]]:
        """Return these hits as `search` asks for them. Its query only scores and highlights them."""
        by_key: dict[Key, Hit] = {}
        for keys in batches(map(hit_key, hits), DOCUMENTS_PER_REQUEST):
            query = {"bool": {"filter": [_these(keys)], "should": [search.get("query") or {"match_all": {}}]}}
            # With routing, each shard may have a document of the same id.
            size = min(len(keys) * self._shards, MAX_HITS_PER_ANSWER)
            response = yield from self._answer(search | {"query": query, "size": size, "track_total_hits": False})
            by_key |= {hit_key(hit): hit for hit in response["hits"]["hits"]}
        return by_key

    @property
    def _field_names(self) -> Sequence[str]:
        """The fields of a hit that are read."""
        return "shingle_count", "minhash"

    def _renew(self, hits: Sequence[Hit]) -> Steps[dict[Key, Hit]]:  # noqa: ARG002 (for subclasses)
        """Read the documents of hits whose fields may be stale, or correct the hits themselves."""
        yield from ()
        return {}

    def _with_texts(self, hits: Sequence[Hit], search: Search) -> Steps[dict[Key, Hit]]:
        """Return these hits with their texts, as `search` asks for them."""
        found: dict[Key, Hit] = {}
        for some in batches(hits, TEXTS_PER_REQUEST):
            found |= yield from self.fetched(some, search)
        return found

    def _order(self, hit: Hit) -> list[Any]:
        order: list[Any] = hit["sort"][: self._order_length]
        return order

    def _answer(self, search: Search) -> Steps[Answer]:
        response = yield from self._search(search)
        self._shards = response["_shards"]["total"]
        return response


def hit_key(hit: Hit) -> Key:
    """Return the index, id and routing of a hit, which identify it."""
    return hit["_index"], hit["_id"], hit.get("_routing")


def without(mapping: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a copy of a mapping without these names."""
    return {name: value for name, value in mapping.items() if name not in names}


def _these(keys: Sequence[Key]) -> Clause:
    ids: dict[str, list[str]] = {}
    for index, id_, _ in keys:
        ids.setdefault(index, []).append(id_)
    each = [[{"term": {"_index": index}}, {"ids": {"values": some}}] for index, some in ids.items()]
    return {"bool": {"should": [{"bool": {"filter": both}} for both in each]}}


def _with_missing(key: Any) -> Any:
    """Return a sort key with an explicit `missing`, which is `_last`, the engine's default, if it has none.

    Without it, OpenSearch 3.8 loses the hits after a document without a value, or fails, if the first key is a keyword.
    """
    ((field, how),) = key.items() if isinstance(key, Mapping) and len(key) == 1 else ((key, {}),)
    if not isinstance(field, str) or field in NO_FIELDS:
        return key
    settings = {"order": how} if isinstance(how, str) else how
    return {field: {"missing": "_last", **settings}} if isinstance(settings, Mapping) else key
