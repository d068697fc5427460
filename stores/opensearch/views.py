"""The pages that have the words, looked at in parts: as they are now, or as they were when the view was made."""

from __future__ import annotations

from array import array
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from heapq import merge
from itertools import islice
from types import TracebackType
from typing import Any, Self

from opensearchpy import NotFoundError

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.hash_tokens import unpacked_tokens
from opensearch_winnow.mappings.opensearch_document import any_card_of
from opensearch_winnow.mappings.record import EPOCH
from opensearch_winnow.queries.dsl.filters import Clause, all_of
from opensearch_winnow.queries.dsl.pages import AT_ONCE, Search, count, following
from opensearch_winnow.queries.dsl.ranked import (
    BY_RANK,
    CLUSTERS,
    FACET,
    FEW_CLUSTERS,
    MISSING,
    UNCLUSTERED,
    clustered,
    facet,
    of_clusters,
    ranked,
    unclustered,
    with_cluster,
    without_place,
)
from opensearch_winnow.queries.results import FacetName
from opensearch_winnow.stores.kept_views import ENDED
from opensearch_winnow.stores.opensearch.cluster import GLOBAL, WHOLE, Cluster, Hit, total
from opensearch_winnow.stores.opensearch.errors import told
from opensearch_winnow.stores.store import Facet, Ranked, StoreError

KEPT = "5m"  # that the engine keeps the state of one time, from one request to the next
SCROLLED = 500  # pages that a scroll brings at a time
NO_TIME, NO_PLACE = -(2**63), 2**63 - 1  # as engines sort what is not there


class ClusterView:
    """With a `point` in time it is a kept one, of which this is the key. Without, each part is as it is now."""

    def __init__(self, cluster: Cluster, query: Clause | None, point: str = "") -> None:
        self._cluster = cluster
        self._query = query  # None: no page has these words
        self._point = point
        self._loaded: list[Ranked] = []
        self._foreign: list[Hit] = []  # of those, documents of others that have no place
        self._met = 0  # of those that have no place
        self._total: int | None = None
        self._counted: tuple[int, bool] | None = None  # clusters
        self._alone = 0  # pages that have none
        self._unclustered: list[Ranked] = []
        self._rest: Search | None = None  # what brings the pages after those that are loaded
        self.key = point

    @classmethod
    def kept(cls, cluster: Cluster, query: Clause | None) -> Self:
        if query is None:
            return cls(cluster, query)
        with told(cluster.name, "read"):
            point = cluster.client.create_pit(
                index=cluster.index, params={"keep_alive": KEPT, "allow_partial_pit_creation": "false"}
            )
        return cls(cluster, query, point["pit_id"])

    @property
    def total(self) -> int:
        if self._total is None:  # else it came with the first pages
            self._total = 0 if self._query is None else total(self._search(count([self._query])))
        return self._total

    def ranked(self, start: int, end: int) -> Sequence[Ranked]:
        self._load(end)
        return self._loaded[start:end]

    def clustered(self, start: int, end: int) -> Sequence[Ranked]:
        if self._query is None or start >= end:
            return []
        if end > AT_ONCE:
            raise StoreError(
                f"{self._cluster.name} cannot be read: the engine shows the first {AT_ONCE:,} clusters; group by"
                " signature to see more"
            )
        if not self._unclustered:
            found = self._clusters(self._query, start, end)
            if not self._alone:
                return list(map(_page, found))
            self._unclustered = list(self._ours(self._all(unclustered(self._query))))
        # Pages that somebody has put there past the pipeline: each is alone.
        ours = map(_page, self._clusters(with_cluster(self._query), 0, end))
        return list(islice(merge(ours, self._unclustered, key=_rank), start, end))

    def _clusters(self, query: Clause, start: int, end: int) -> list[Hit]:
        answer = self._search(clustered(query, start=start, size=end - start))
        if self._counted is None:
            self._total, counted = total(answer), answer["aggregations"]
            few = counted[FEW_CLUSTERS]
            self._alone = counted[UNCLUSTERED]["doc_count"]
            exact = not few["sum_other_doc_count"]
            self._counted = (len(few["buckets"]) if exact else counted[CLUSTERS]["value"]) + self._alone, exact
        hits: list[Hit] = answer["hits"]["hits"]
        return hits

    def of_clusters(self, clusters: Collection[str]) -> Sequence[Ranked]:
        return list(self._all(of_clusters(self._query, clusters))) if self._query and clusters else []

    def cluster_count(self) -> tuple[int, bool]:
        if self._counted is None:
            self.clustered(0, 1)
        return self._counted or (0, True)

    def read(self, pages: Sequence[Ranked]) -> Sequence[tuple[Card, str] | None]:
        return [
            (any_card_of(id_, source), source.get("text") or "") if source else None
            for id_, source in self._documents(pages)
        ]

    def sketches(self, pages: Sequence[Ranked]) -> Sequence[array[int]]:
        return [unpacked_tokens(source.get("sketch") or "") for _, source in self._documents(pages)]

    def facets(self, name: FacetName, *, limit: int, clusters: bool = False) -> list[Facet]:
        if self._query is None:
            return []
        found = self._values(facet(self._query, name, size=limit, clusters=clusters))
        return sorted(found, key=lambda each: (-each.pages, each.value))[:limit]

    def close(self) -> None:
        if self._point:
            # It ends by itself, too.
            with suppress(StoreError), told(self._cluster.name, "read"):
                self._cluster.client.delete_pit(body={"pit_id": [self._point]})
            self._point = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _load(self, end: int) -> None:
        while len(self._loaded) < end and (some := self._more(end - len(self._loaded))):
            self._loaded += self._ours(map(_page, some))

    def _more(self, wanted: int) -> Sequence[Hit]:
        if self._query is None or (self._loaded and self._rest is None):
            return []
        search = (self._rest or ranked(self._query)) | {"size": min(wanted, AT_ONCE)}
        answer = self._search(search | {"track_total_hits": self._total is None})
        if self._total is None:
            self._total = total(answer)
        hits: list[Hit] = answer["hits"]["hits"]
        self._rest = following(search, hits)
        return hits

    def _search(self, search: Search) -> dict[str, Any]:
        if not self._point:
            return self._cluster.weighed(search)
        with told(self._cluster.name, "read"):
            try:
                answer: dict[str, Any] = self._cluster.client.search(
                    body=search | {"pit": {"id": self._point, "keep_alive": KEPT}}, params=WHOLE | GLOBAL
                )
            except NotFoundError:
                raise StoreError(
                    f"{self._cluster.name}: {ENDED}; a view is kept for {KEPT.removesuffix('m')} minutes after each use"
                ) from None
        return answer

    def _hits(self, search: Search) -> list[Hit]:
        found: list[Hit] = self._search(search)["hits"]["hits"]
        return found

    def _all(self, search: Search | None) -> Iterator[Ranked]:
        while search is not None:
            some = self._hits(search)
            yield from map(_page, some)
            search = following(search, some)

    def _values(self, search: Search) -> list[Facet]:
        found = self._search(search)["aggregations"]
        values: dict[str, Facet] = {}
        for each in [*found[FACET]["buckets"], found[MISSING] | {"key": ""}]:
            value = each.get("key_as_string", each["key"])
            before = values.get(value, Facet(value, 0))
            clusters = each.get(CLUSTERS, {"value": 0})["value"]
            values[value] = Facet(value, before.pages + each["doc_count"], before.clusters + clusters)
        return [each for each in values.values() if each.pages]

    def _documents(self, pages: Sequence[Ranked]) -> list[tuple[str, dict[str, Any]]]:
        """Their ids and sources; an empty one for a page that has gone."""
        found = {-1 - number: (hit["_id"], hit["_source"]) for number, hit in enumerate(self._foreign)}
        if not self._point:
            ids = {page.id: page.place for page in pages if page.place >= 0}
            found |= {ids[id_]: (id_, source) for id_, source in self._cluster.sources(ids).items()}
        # As of its time; or under an id that somebody else has given it.
        unread = [page.place for page in pages if page.place not in found]
        for start in range(0, len(unread), AT_ONCE):
            some = unread[start : start + AT_ONCE]
            search = {"query": all_of([{"terms": {"place": some}}]), "size": len(some)}
            found |= {hit["_source"]["place"]: (hit["_id"], hit["_source"]) for hit in self._hits(search)}
        return [found.get(page.place, ("", {})) for page in pages]

    def _ours(self, pages: Iterable[Ranked]) -> Iterator[Ranked]:
        """With documents of others that have no place: they are known by their number among such, below 0."""
        for page in pages:
            if page.place < NO_PLACE:
                yield page
                continue
            if not self._foreign and self._query is not None:
                search = {"query": without_place(self._query), "sort": BY_RANK, "size": AT_ONCE}
                self._foreign = self._hits(search)
            self._met += 1
            yield page._replace(place=-self._met)


class ScrolledView(ClusterView):
    """Kept by an engine that knows no points in time: documents come with the order, and stay in memory. Facets are
    those of now."""

    def __init__(self, cluster: Cluster, query: Clause | None) -> None:
        super().__init__(cluster, query)
        self._scroll = ""
        self._sources: dict[int, tuple[str, dict[str, Any]]] = {}  # ids and sources by place

    @property
    def total(self) -> int:
        if self._total is None:
            self._load(1)
        return self._total or 0

    def clustered(self, start: int, end: int) -> Sequence[Ranked]:
        """Engines scroll through no clusters: all pages are looked at."""
        self._load(self.total)
        firsts: dict[str | int, Ranked] = {}
        for page in self._loaded:
            firsts.setdefault(page.cluster or page.place, page)
        return list(firsts.values())[start:end]

    def of_clusters(self, clusters: Collection[str]) -> Sequence[Ranked]:
        self._load(self.total)
        return [page for page in self._loaded if page.cluster in clusters]

    def cluster_count(self) -> tuple[int, bool]:
        return len(self.clustered(0, self.total)), True

    def close(self) -> None:
        if self._scroll:
            with suppress(StoreError), told(self._cluster.name, "read"):
                self._cluster.client.clear_scroll(body={"scroll_id": [self._scroll]})
            self._scroll = ""

    def _more(self, wanted: int) -> Sequence[Hit]:  # noqa: ARG002 (a scroll has its own size)
        client = self._cluster.client
        if self._query is None:
            return []
        with told(self._cluster.name, "read"):
            if self._scroll:
                answer = client.scroll(body={"scroll_id": self._scroll, "scroll": KEPT})
            else:
                whole = {"_source": True, "stored_fields": ["_source"], "track_total_hits": True}
                params = WHOLE | GLOBAL | {"scroll": KEPT}
                body = ranked(self._query, size=SCROLLED) | whole
                answer = client.search(index=self._cluster.index, body=body, params=params)
                self._total = total(answer)
        if answer["_shards"]["failed"]:
            raise StoreError(f"{self._cluster.name} cannot be read: a shard has stopped to answer; try again")
        self._scroll = answer["_scroll_id"]
        hits: list[Hit] = answer["hits"]["hits"]
        self._sources |= {hit["sort"][-1]: (hit["_id"], hit["_source"]) for hit in hits}
        return hits

    def _documents(self, pages: Sequence[Ranked]) -> list[tuple[str, dict[str, Any]]]:
        ours = {page.place: self._sources[page.place] for page in pages if page.place in self._sources}
        rest = iter(super()._documents([page for page in pages if page.place not in ours]))
        return [ours[page.place] if page.place in ours else next(rest) for page in pages]


def _page(hit: Hit) -> Ranked:
    """From `sort` and `fields` of a hit of `ranked`."""
    score, time, _, url, place = hit["sort"]
    value = {name: values[0] for name, values in hit.get("fields", {}).items()}
    fetched_at = None if time is None or time <= NO_TIME else EPOCH + timedelta(microseconds=time)
    return Ranked(
        url=url or "",
        site=value.get("site", ""),
        crawl=value.get("crawl", ""),
        fetched_at=fetched_at,
        score=score,
        cluster=value.get("cluster", ""),
        shingle_count=value.get("shingle_count", 0),
        minhash=b64decode(value.get("minhash", "") + "=="),
        place=place,
    )


def _rank(page: Ranked) -> tuple[float, float, int, str, int]:
    time = float("inf") if page.fetched_at is None else (EPOCH - page.fetched_at).total_seconds()
    return -page.score, time, len(page.url), page.url, page.place
