"""Pages through the hits of a search, either the current hits or the hits at the time when the view was made."""

from __future__ import annotations

from array import array
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Any, Self

from opensearchpy import NotFoundError

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.written_time import EPOCH, time_at
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.hash_tokens import unpacked_tokens
from opensearch_winnow.mappings.opensearch_document import any_card_of
from opensearch_winnow.queries.dsl.filters import Clause, all_of, conditions
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER, Search, count, following
from opensearch_winnow.queries.dsl.ranked import (
    BY_RANK,
    CLUSTERS,
    FEW_CLUSTERS,
    MISSING,
    UNCLUSTERED,
    VALUES,
    clustered,
    facets,
    of_clusters,
    ranked,
    unclustered,
    with_cluster,
    without_arrival,
)
from opensearch_winnow.queries.dsl.words import words_query
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.searching.cursor_text import CURSOR_EXPIRED
from opensearch_winnow.queries.searching.results import FacetName
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.opensearch.index_client import DFS, EngineHit, IndexClient, total
from opensearch_winnow.stores.snippet import hit_of
from opensearch_winnow.stores.store import Facet, Hit, StoreError, ViewHit

KEEP_ALIVE = "5m"  # the longest pause between two requests, after which the engine drops the frozen state
SCROLL_SIZE = 500  # pages per scroll request
NO_TIME, NO_ARRIVAL = -(2**63), 2**63 - 1  # the sort values that engines use for missing fields


class OpenSearchView(Closing):
    """The hits of a query, in order. With a `point` in time the view is frozen, and the point is its key.

    Without a point, every read sees the current state of the store.
    """

    def __init__(self, index: IndexClient, words: Words, where: Filters, point: str = "") -> None:
        self._index = index
        self._words = words
        self._query = words_query(words, conditions(where))  # None if no page can match
        self._point = point
        self._loaded: list[ViewHit] = []
        self._foreign: list[EngineHit] = []  # hits that other software has written without an arrival
        self._foreign_seen = 0  # the number of `_foreign` hits that are among `_loaded`
        self._total: int | None = None
        self._cluster_count: tuple[int, bool] | None = None  # and whether it is exact
        self._unclustered_count = 0  # pages without a cluster
        self._unclustered: list[ViewHit] = []
        self._rest: Search | None = None  # the search for the pages after those in `_loaded`
        self.key = point

    @classmethod
    def frozen(cls, index: IndexClient, words: Words, where: Filters) -> Self:
        """Return a view of the current state of the store, which later writes do not change."""
        view = cls(index, words, where)
        if view._query is not None:
            view.key = view._point = index.open_point(KEEP_ALIVE)
        return view

    @property
    def total(self) -> int:
        if self._total is None:  # otherwise it came with the first pages
            self._total = 0 if self._query is None else total(self._search(count([self._query])))
        return self._total

    def hits(self, start: int, end: int) -> Sequence[Hit]:
        if self.key or start or self._query is None or not 0 < end <= MAX_HITS_PER_ANSWER:
            pages = self.ranked(start, end)
            shown = zip(pages, self.read(pages), strict=True)
            return [hit_of(read[0], page.score, read[1], self._words) for page, read in shown if read]
        # One request for whole documents: taking fields out of them costs the engine more than sending them.
        search = {"query": self._query, "sort": BY_RANK, "size": end, "track_total_hits": True}
        answer = self._search(search)
        self._total = total(answer)
        documents = [(hit["_id"], hit["_score"], hit["_source"]) for hit in answer["hits"]["hits"]]
        return [
            hit_of(any_card_of(id_, each), score, each.get("text", ""), self._words) for id_, score, each in documents
        ]

    def ranked(self, start: int, end: int) -> Sequence[ViewHit]:
        self._load(end)
        return self._loaded[start:end]

    def clustered(self, start: int, end: int) -> Sequence[ViewHit]:
        if self._query is None or start >= end:
            return []
        if end > MAX_HITS_PER_ANSWER:
            raise StoreError(
                f"{self._index.name} cannot be read: the engine shows only the first {MAX_HITS_PER_ANSWER:,} clusters;"
                " group by signature to see more"
            )
        if not self._unclustered:
            hits = self._clusters(self._query, start, end)
            if not self._unclustered_count:
                return list(map(_page, hits))
            self._unclustered = list(self._with_arrivals(self._all(unclustered(self._query))))
        # Pages that were written past the ingest pipeline have no cluster: each counts as a cluster of its own.
        representatives = map(_page, self._clusters(with_cluster(self._query), 0, end))
        return list(islice(merge(representatives, self._unclustered, key=_rank), start, end))

    def _clusters(self, query: Clause, start: int, end: int) -> list[EngineHit]:
        answer = self._search(clustered(query, start=start, size=end - start))
        if self._cluster_count is None:
            self._total, counts = total(answer), answer["aggregations"]
            few = counts[FEW_CLUSTERS]
            self._unclustered_count = counts[UNCLUSTERED]["doc_count"]
            exact = not few["sum_other_doc_count"]
            clusters = len(few["buckets"]) if exact else counts[CLUSTERS]["value"]
            self._cluster_count = clusters + self._unclustered_count, exact
        hits: list[EngineHit] = answer["hits"]["hits"]
        return hits

    def of_clusters(self, clusters: Collection[str]) -> Sequence[ViewHit]:
        return list(self._all(of_clusters(self._query, clusters))) if self._query and clusters else []

    def cluster_count(self) -> tuple[int, bool]:
        if self._cluster_count is None:
            self.clustered(0, 1)
        return self._cluster_count or (0, True)

    def read(self, pages: Sequence[ViewHit]) -> Sequence[tuple[Card, str] | None]:
        return [
            (any_card_of(id_, source), source.get("text") or "") if source else None
            for id_, source in self._documents(pages)
        ]

    def sketches(self, pages: Sequence[ViewHit]) -> Sequence[array[int]]:
        return [unpacked_tokens(source.get("sketch") or "") for _, source in self._documents(pages)]

    def facets(self, names: Sequence[FacetName], *, limit: int, clusters: bool = False) -> dict[FacetName, list[Facet]]:
        if self._query is None or not names:
            return {name: [] for name in names}
        found = self._search(facets(self._query, names, size=limit, clusters=clusters))["aggregations"]
        return {name: _facet(found[name + VALUES]["buckets"], found[name + MISSING])[:limit] for name in names}

    def close(self) -> None:
        if self._point:
            self._index.close_point(self._point)
            self._point = ""

    def _load(self, end: int) -> None:
        while len(self._loaded) < end and (hits := self._next_hits(end - len(self._loaded))):
            self._loaded += self._with_arrivals(map(_page, hits))

    def _next_hits(self, wanted: int) -> Sequence[EngineHit]:
        if self._query is None or (self._loaded and self._rest is None):
            return []
        search = (self._rest or ranked(self._query)) | {"size": min(wanted, MAX_HITS_PER_ANSWER)}
        answer = self._search(search | {"track_total_hits": self._total is None})
        if self._total is None:
            self._total = total(answer)
        hits: list[EngineHit] = answer["hits"]["hits"]
        self._rest = following(search, hits)
        return hits

    def _search(self, search: Search) -> dict[str, Any]:
        if not self._point:
            return self._index.dfs_search(search)
        try:
            return self._index.search(search | {"pit": {"id": self._point, "keep_alive": KEEP_ALIVE}}, **DFS)
        except StoreError as error:
            if not isinstance(error.__cause__, NotFoundError):
                raise
            raise StoreError(
                f"{self._index.name}: {CURSOR_EXPIRED}; a cursor works for {KEEP_ALIVE.removesuffix('m')} minutes"
                " after each use"
            ) from None

    def _hits(self, search: Search) -> list[EngineHit]:
        hits: list[EngineHit] = self._search(search)["hits"]["hits"]
        return hits

    def _all(self, search: Search | None) -> Iterator[ViewHit]:
        while search is not None:
            hits = self._hits(search)
            yield from map(_page, hits)
            search = following(search, hits)

    def _documents(self, pages: Sequence[ViewHit]) -> list[tuple[str, dict[str, Any]]]:
        """Return the ids and sources of pages; a page that was deleted has an empty source."""
        documents = {-1 - number: (hit["_id"], hit["_source"]) for number, hit in enumerate(self._foreign)}
        if not self._point:
            ids = {page.id: page.view_key for page in pages if page.view_key >= 0}
            documents |= {ids[id_]: (id_, source) for id_, source in self._index.sources(ids).items()}
        # The rest is looked up by arrival: in a frozen view, or where other software has chosen the id.
        unread = [page.view_key for page in pages if page.view_key not in documents]
        for arrivals in batches(unread, MAX_HITS_PER_ANSWER):
            search = {"query": all_of([{"terms": {"arrival": arrivals}}]), "size": len(arrivals)}
            documents |= {hit["_source"]["arrival"]: (hit["_id"], hit["_source"]) for hit in self._hits(search)}
        return [documents.get(page.view_key, ("", {})) for page in pages]

    def _with_arrivals(self, pages: Iterable[ViewHit]) -> Iterator[ViewHit]:
        """Yield the pages. A page of other software, which has no arrival, gets -1, -2, … in order."""
        for page in pages:
            if page.view_key < NO_ARRIVAL:
                yield page
                continue
            if not self._foreign and self._query is not None:
                search = {"query": without_arrival(self._query), "sort": BY_RANK, "size": MAX_HITS_PER_ANSWER}
                self._foreign = self._hits(search)
            self._foreign_seen += 1
            yield page._replace(view_key=-self._foreign_seen)


class ScrolledView(OpenSearchView):
    """A frozen view on an engine without points in time.

    A scroll returns whole documents, which stay in memory. Facets are not frozen: they count the current pages.
    """

    def __init__(self, index: IndexClient, words: Words, where: Filters) -> None:
        super().__init__(index, words, where)
        self._scroll = ""
        self._sources: dict[int, tuple[str, dict[str, Any]]] = {}  # id and source by arrival

    @property
    def total(self) -> int:
        if self._total is None:
            self._load(1)
        return self._total or 0

    def clustered(self, start: int, end: int) -> Sequence[ViewHit]:
        """Group all pages here, because engines cannot scroll through collapsed hits."""
        self._load(self.total)
        firsts: dict[str | int, ViewHit] = {}
        for page in self._loaded:
            firsts.setdefault(page.cluster or page.view_key, page)
        return list(firsts.values())[start:end]

    def of_clusters(self, clusters: Collection[str]) -> Sequence[ViewHit]:
        self._load(self.total)
        return [page for page in self._loaded if page.cluster in clusters]

    def cluster_count(self) -> tuple[int, bool]:
        return len(self.clustered(0, self.total)), True

    def close(self) -> None:
        if self._scroll:
            self._index.clear_scroll(self._scroll)
            self._scroll = ""

    def _next_hits(self, wanted: int) -> Sequence[EngineHit]:  # noqa: ARG002 (a scroll has its own size)
        if self._query is None:
            return []
        if self._scroll:
            answer = self._index.scroll(self._scroll, KEEP_ALIVE)
        else:
            whole = {"_source": True, "stored_fields": ["_source"], "track_total_hits": True}
            answer = self._index.search(ranked(self._query, size=SCROLL_SIZE) | whole, **DFS, scroll=KEEP_ALIVE)
            self._total = total(answer)
        self._scroll = answer["_scroll_id"]
        hits: list[EngineHit] = answer["hits"]["hits"]
        self._sources |= {hit["sort"][-1]: (hit["_id"], hit["_source"]) for hit in hits}
        return hits

    def _documents(self, pages: Sequence[ViewHit]) -> list[tuple[str, dict[str, Any]]]:
        known = {page.view_key: self._sources[page.view_key] for page in pages if page.view_key in self._sources}
        rest = iter(super()._documents([page for page in pages if page.view_key not in known]))
        return [known[page.view_key] if page.view_key in known else next(rest) for page in pages]


def _page(hit: EngineHit) -> ViewHit:
    """Make a page from the `sort` and `fields` of a hit of the search `ranked`."""
    score, time, _, url, arrival, *_ = hit["sort"]  # Elasticsearch adds its own tiebreaker at a point in time
    value = {name: values[0] for name, values in hit.get("fields", {}).items()}
    fetched_at = None if time is None or time <= NO_TIME else time_at(time)
    return ViewHit(
        url=url or "",
        site=value.get("site", ""),
        crawl=value.get("crawl", ""),
        fetched_at=fetched_at,
        score=score,
        cluster=value.get("cluster", ""),
        shingle_count=value.get("shingle_count", 0),
        minhash=b64decode(value.get("minhash", "") + "=="),
        view_key=arrival,
        attached_id=value.get("id", ""),
        canonical=value.get("canonical"),
    )


def _rank(page: ViewHit) -> tuple[float, float, int, str, int]:
    time = float("inf") if page.fetched_at is None else (EPOCH - page.fetched_at).total_seconds()
    return -page.score, time, len(page.url), page.url, page.view_key


def _facet(buckets: Sequence[dict[str, Any]], missing: dict[str, Any]) -> list[Facet]:
    """Make a facet from aggregations of the search `facets`. Unknown and empty values are in two of them."""
    values: dict[str, Facet] = {}
    for each in [*buckets, missing | {"key": ""}]:
        value = each.get("key_as_string", each["key"])
        before = values.get(value, Facet(value, 0))
        clusters = each.get(CLUSTERS, {"value": 0})["value"]
        values[value] = Facet(value, before.pages + each["doc_count"], before.clusters + clusters)
    return sorted((each for each in values.values() if each.pages), key=lambda each: (-each.pages, each.value))
