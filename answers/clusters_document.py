"""The clusters of a store, sorted and filtered, and the run that found them, as JSON values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from opensearch_winnow.answers.cluster_pages import cluster_pages
from opensearch_winnow.answers.compared_pages import ComparedPages, Likeness, lowest
from opensearch_winnow.answers.formatting import time_stamp
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Selection
from opensearch_winnow.stores.store import ClusterSize

MAX_CLUSTERS_SORTED = 2_000  # those with most captures; a store lists no further ones
MAX_CLUSTERS_ESTIMATED = 500  # to sort by the lowest pair: those with most pages
MAX_CAPTURES_READ = 200  # per cluster; the texts of a larger cluster are counted on its own screen only
CLUSTERS_PER_READ = 50
MAX_TEXTS_COMPARED = 24  # different texts per cluster
MAX_SHINGLES = 50_000  # in all texts compared for one list; clusters with the fewest come first, others are estimated

Sort = Literal["size", "spread", "site", "lowest"]


class CardDocument(TypedDict):
    """A page as lists show it."""

    id: str
    url: str
    title: str | None
    site: str
    fetched_at: str | None


class ClusteringDocument(TypedDict):
    """What the last clustering run found; pages may have come and gone since.

    `sizes` maps a number of pages to the number of clusters of that size, and `identical_sizes` counts those among them
    whose pages are all identical. `histogram` counts the compared pairs by resemblance, in equal bins from 0 to 1.
    """

    at: str
    threshold: float
    linkage: str
    representative: str
    fast: bool
    pages: int
    contents: int
    clusters: int
    clustered_pages: int
    identical_clusters: int
    identical_pages: int
    sizes: dict[str, int]
    identical_sizes: dict[str, int]
    compared: int
    histogram: list[int]


class ClusterLineDocument(TypedDict):
    """A cluster in a list. `pages` counts its captures, `urls` its different URLs.

    `texts` counts the different texts of these URLs, and `lowest` is the resemblance of the two that are least alike,
    `kind` whether it is exact, `error` its standard error. They are null where computing them would take too long for a
    list.
    """

    id: str
    pages: int
    urls: int
    sites: int
    texts: int | None
    lowest: float | None
    kind: Literal["exact", "estimate"] | None
    error: float | None
    representative: CardDocument | None


class RunningDocument(TypedDict):
    """A clustering run in progress: how much of its current phase is done, and of how much, if known."""

    phase: str
    done: int
    total: int | None
    seconds: float
    stopping: bool


class ClustersDocument(TypedDict):
    """`pages` is how many captures the store has now; the last `clustering` run may be older.

    `found` counts the clusters that are listed, on all pages of the list, and `largest` the URLs of the largest of
    them. `repeats` counts clusters that are left out because all their captures are of one URL. `among` is null if
    these are all; otherwise they are taken from the `among` largest clusters. `more` says whether there is a next page
    of the list.
    """

    pages: int
    found: int
    largest: int
    repeats: int
    among: int | None
    clustering: ClusteringDocument | None
    running: RunningDocument | None
    failure: str | None
    clusters: list[ClusterLineDocument]
    more: bool


def card_document(card: Card) -> CardDocument:
    return {
        "id": card.id,
        "url": card.url,
        "title": card.title,
        "site": card.site,
        "fetched_at": time_stamp(card),
    }


def clustering_document(clustering: dict[str, Any] | None) -> ClusteringDocument | None:
    """Convert the result of `Index.clustering`."""
    if clustering is None:
        return None
    return {
        "at": clustering["at"],
        "threshold": clustering["threshold"],
        "linkage": clustering["linkage"],
        "representative": clustering.get("representative", "earliest"),  # older stores do not say
        "fast": clustering["fast"],
        "pages": clustering["pages"],
        "contents": clustering["contents"],
        "clusters": clustering["clusters"],
        "clustered_pages": clustering["clustered_pages"],
        "identical_clusters": clustering["identical_clusters"],
        "identical_pages": clustering["identical_pages"],
        "sizes": clustering["sizes"],
        "identical_sizes": clustering["identical_sizes"],
        "compared": clustering["candidates"]["compared"],
        "histogram": clustering["candidates"]["histogram"],
    }


class _Cluster(NamedTuple):
    """A cluster to be listed, and what is known of its texts."""

    size: ClusterSize
    representative: Card | None
    texts: list[Card]  # a page for each different text; empty if there are too many captures to tell

    @property
    def shingles(self) -> int:
        return sum(card.shingle_count for card in self.texts)


def clusters_document(
    index: Index,
    *,
    least: int,
    sort: Sort,
    site: str | None,
    limit: int,
    offset: int,
    running: RunningDocument | None,
    failure: str,
) -> ClustersDocument:
    """List the clusters of at least `least` URLs, one of them on `site` if given."""
    sizes = index.clusters(least=max(least, 2), site=site, limit=MAX_CLUSTERS_SORTED + 1)
    among = MAX_CLUSTERS_SORTED if len(sizes) > MAX_CLUSTERS_SORTED else None
    found = [size for size in sizes[:MAX_CLUSTERS_SORTED] if size.urls >= least]
    found.sort(key=lambda size: (-size.urls, -size.pages, size.cluster))
    # While a run is in progress the list is reloaded every few seconds, so nothing is compared.
    compared = None if running else ComparedPages(index, max_shingles=MAX_SHINGLES)
    if sort == "lowest" and len(found) > MAX_CLUSTERS_ESTIMATED:
        found, among = found[:MAX_CLUSTERS_ESTIMATED], MAX_CLUSTERS_ESTIMATED
    found.sort(key=_sort_key(index, sort, found))  # stable: equal ones stay the largest first
    if sort == "lowest" and compared:
        clusters = _by_lowest(compared, list(_clusters(index, found)))[offset : offset + limit]
    else:
        clusters = list(_clusters(index, found[offset : offset + limit]))
    likenesses = _lowest_pairs(compared, clusters) if compared else {}
    if sort == "lowest":  # the order of estimates is not quite that of what is shown
        clusters.sort(key=lambda each: _resemblance(likenesses.get(each.size.cluster)))
    return {
        "pages": index.store.count(),
        "found": len(found),
        "largest": max((size.urls for size in found), default=0),
        "repeats": sum(size.urls == 1 for size in sizes[:MAX_CLUSTERS_SORTED]) if least > 1 else 0,
        "among": among,
        "clustering": clustering_document(index.clustering()),
        "running": running,
        "failure": failure or None,
        "clusters": [_line(each, likenesses.get(each.size.cluster)) for each in clusters],
        "more": len(found) > offset + limit,
    }


def _sort_key(index: Index, sort: Sort, found: Sequence[ClusterSize]) -> Callable[[ClusterSize], Any]:
    if sort == "spread":
        return lambda size: -size.sites
    if sort == "site":
        cards = index.store.read([size.cluster for size in found], Card)
        sites = {id_: card.site for id_, card in cards.items()}
        return lambda size: (size.cluster not in sites, sites.get(size.cluster))
    return lambda _: 0


def _clusters(index: Index, sizes: Sequence[ClusterSize]) -> Iterator[_Cluster]:
    """Yield the clusters with what is known of their texts; the small ones are read many at a time."""
    small = [size.cluster for size in sizes if size.pages <= MAX_CAPTURES_READ]
    cards: dict[str, list[Card]] = defaultdict(list)
    for start in range(0, len(small), CLUSTERS_PER_READ):
        where = Selection(clusters=tuple(small[start : start + CLUSTERS_PER_READ]))
        for card in index.store.scan(Card, where, order="oldest", limit=CLUSTERS_PER_READ * MAX_CAPTURES_READ):
            cards[card.cluster].append(card)
    for size in sizes:
        yield _cluster(size, cards[size.cluster] or index.cluster_members(size.cluster, limit=MAX_CAPTURES_READ))


def _cluster(size: ClusterSize, cards: Sequence[Card]) -> _Cluster:
    pages = [page.card for page in cluster_pages(cards)]
    known = size.pages <= len(cards) and all(card.text_digest for card in pages)
    texts = list({card.text_digest: card for card in reversed(pages)}.values()) if known else []
    return _Cluster(size, pages[0] if pages else None, texts)


def _by_lowest(compared: ComparedPages, clusters: Sequence[_Cluster]) -> list[_Cluster]:
    """Sort clusters by the estimated resemblance of their lowest pair, those without an estimate last."""
    comparable = [each for each in clusters if len(each.texts) <= MAX_TEXTS_COMPARED]
    compared.add_sketches(card for each in comparable for card in each.texts if len(each.texts) > 1)
    estimated = {each.size.cluster: _lowest(compared, each) for each in comparable}
    return sorted(clusters, key=lambda each: _resemblance(estimated.get(each.size.cluster)))


def _lowest_pairs(compared: ComparedPages, clusters: Sequence[_Cluster]) -> dict[str, Likeness | None]:
    """Compare the texts of each cluster: exactly as far as there is room for them, those with the fewest first."""
    comparable = [each for each in clusters if len(each.texts) <= MAX_TEXTS_COMPARED]
    for each in sorted(comparable, key=lambda each: each.shingles):
        if len(each.texts) > 1:
            compared.add(each.texts)
    compared.add_sketches(card for each in comparable for card in each.texts if len(each.texts) > 1)
    return {each.size.cluster: _lowest(compared, each) for each in comparable}


def _lowest(compared: ComparedPages, cluster: _Cluster) -> Likeness | None:
    if len(cluster.texts) == 1:
        return Likeness(1.0, 1.0, 1.0, "exact", 0.0)
    pair = lowest(compared.pairs(cluster.texts))
    return pair and pair.likeness


def _resemblance(likeness: Likeness | None) -> float:
    return likeness.resemblance if likeness else 2.0  # unknown ones come last


def _line(cluster: _Cluster, likeness: Likeness | None) -> ClusterLineDocument:
    return {
        "id": cluster.size.cluster,
        "pages": cluster.size.pages,
        "urls": cluster.size.urls,
        "sites": cluster.size.sites,
        "texts": len(cluster.texts) or None,
        "lowest": likeness and likeness.resemblance,
        "kind": likeness and likeness.kind,
        "error": likeness and likeness.error,
        "representative": cluster.representative and card_document(cluster.representative),
    }
