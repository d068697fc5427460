"""Lists the clusters of a store, sorted and filtered, with the resemblance of their pages that are least alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, get_args

from opensearch_winnow.foundation.answers import Answer, Listing, answer, inlined, key, listed
from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.option_kinds import SITE, number, one_of
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.asking.page_comparer import Likeness, PageComparer, lowest
from opensearch_winnow.operations.clusters.cluster_details import cluster_pages
from opensearch_winnow.queries.filters import Selection
from opensearch_winnow.stores.store import ClusterSize, Store

MAX_CLUSTERS_SORTED = 2_000  # those with most captures; a store lists no further ones
MAX_CLUSTERS_ESTIMATED = 500  # to sort by the lowest pair: those with most pages
MAX_CAPTURES_READ = 200  # per cluster; the texts of a larger cluster are counted on its own screen only
CLUSTERS_PER_READ = 50
MAX_TEXTS_COMPARED = 24  # different texts per cluster
MAX_SHINGLES = 50_000  # in all texts compared for one list; clusters with the fewest come first, others are estimated

ClusterOrder = Literal["size", "spread", "site", "lowest"]
ORDERS: tuple[ClusterOrder, ...] = get_args(ClusterOrder)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterListOptions(Options):
    """The clusters that are listed. Without `compare`, no texts are read, which is faster."""

    min_urls: int = option(
        2, number(1, 1_000_000_000), "List clusters of at least N URLs; 1 includes pages that only repeat themselves."
    )
    order: ClusterOrder = option(
        "size",
        one_of(*ORDERS),
        "List the clusters by the number of URLs (size) or of sites (spread), most first; by the site of the"
        " representative; or by the resemblance of the two texts that are least alike (lowest).",
    )
    site: str | None = option(None, SITE, "List clusters with a page on HOST.")
    limit: int = option(100, number(1, MAX_CLUSTERS_SORTED), "List N clusters.")
    offset: int = 0
    compare: bool = True


@answer
class ListedCluster(Answer):
    """A cluster in a list, and the known facts about its texts."""

    id: str = key("The id of the cluster, which is that of its representative.")
    pages: int = key("The number of captures.")
    urls: int = key("The number of different URLs.")
    sites: int = key("The number of sites.")
    texts: int | None = key("The number of texts of these URLs; null if counting them takes too long for a list.")
    cards: list[Card]  # a page for each of these texts
    representative: Card | None = key("The representative; if it is gone, the earliest page; null if all are gone.")
    lowest: float | None = key(
        "The resemblance of the two texts that are least alike; null if comparing takes too long.", default=None
    )
    kind: Literal["exact", "estimate"] | None = key("The kind of this resemblance.", default=None)
    error: float | None = key("The standard error of this resemblance.", default=None)

    @property
    def shingles(self) -> int:
        """The number of shingles in all its texts."""
        return sum(card.shingle_count for card in self.cards)


@answer
class ClusterRow(Answer):
    """A cluster in a table, with its representative."""

    cluster: ListedCluster = inlined()
    fetched_at: datetime | None = key("The time of the representative.")
    site: str | None = key("Its site.")
    url: str | None = key("Its URL.")
    title: str | None = key("Its title.")


@answer
class ClusterList(Listing[ListedCluster]):
    """One part of a list of clusters."""

    row = ClusterRow

    found: int = key("The number of clusters in the whole list.")
    largest: int = key("The number of URLs of the largest of them.")
    repeats: int = key("The number of clusters left out, because all their captures are of one URL.")
    among: int | None = key("The list was taken from this many of the largest clusters; null if from all.")
    more: bool = key("True if another part of the list follows.")
    clusters: list[ListedCluster] = listed("The clusters of this part.")

    def rows(self) -> Iterator[ClusterRow]:
        """Yield each cluster with its representative."""
        for each in self:
            card = each.representative
            yield ClusterRow(each, *(None,) * 4 if card is None else (card.fetched_at, card.site, card.url, card.title))


def cluster_list(store: Store, options: ClusterListOptions) -> ClusterList:
    """List the clusters that the options choose."""
    min_urls, order, limit, offset = options.min_urls, options.order, options.limit, options.offset
    sizes = store.clusters(min_pages=max(min_urls, 2), site=options.site, limit=MAX_CLUSTERS_SORTED + 1)
    among = MAX_CLUSTERS_SORTED if len(sizes) > MAX_CLUSTERS_SORTED else None
    found = [size for size in sizes[:MAX_CLUSTERS_SORTED] if size.urls >= min_urls]
    found.sort(key=lambda size: (-size.urls, -size.pages, size.cluster))
    comparer = PageComparer.of(store, max_shingles=MAX_SHINGLES) if options.compare else None
    if order == "lowest" and len(found) > MAX_CLUSTERS_ESTIMATED:
        found, among = found[:MAX_CLUSTERS_ESTIMATED], MAX_CLUSTERS_ESTIMATED
    found.sort(key=_sort_key(store, order, found))  # stable: equal ones stay the largest first
    if order == "lowest" and comparer:
        clusters = _by_lowest(comparer, list(_clusters(store, found)))[offset : offset + limit]
    else:
        clusters = list(_clusters(store, found[offset : offset + limit]))
    likenesses = _lowest_pairs(comparer, clusters) if comparer else {}
    clusters = [_with_lowest(each, likenesses.get(each.id)) for each in clusters]
    if order == "lowest":  # the exact resemblances may be in another order than the estimates
        clusters.sort(key=lambda each: _resemblance(likenesses.get(each.id)))
    return ClusterList(
        clusters=clusters,
        found=len(found),
        largest=max((size.urls for size in found), default=0),
        repeats=sum(size.urls == 1 for size in sizes[:MAX_CLUSTERS_SORTED]) if min_urls > 1 else 0,
        among=among,
        more=len(found) > offset + limit,
    )


def _sort_key(store: Store, order: ClusterOrder, found: Sequence[ClusterSize]) -> Callable[[ClusterSize], Any]:
    if order == "spread":
        return lambda size: -size.sites
    if order == "site":
        cards = store.read([size.cluster for size in found], Card)
        sites = {id_: card.site for id_, card in cards.items()}
        return lambda size: (size.cluster not in sites, sites.get(size.cluster))
    return lambda _: 0


def _clusters(store: Store, sizes: Sequence[ClusterSize]) -> Iterator[ListedCluster]:
    """Yield the clusters, with their texts if they are small. Small ones are read many at a time."""
    small = (size.cluster for size in sizes if size.pages <= MAX_CAPTURES_READ)
    cards: dict[str, list[Card]] = defaultdict(list)
    for some in batches(small, CLUSTERS_PER_READ):
        where = Selection(clusters=tuple(some))
        for card in store.scan(Card, where, order="oldest", limit=CLUSTERS_PER_READ * MAX_CAPTURES_READ):
            cards[card.cluster].append(card)
    for size in sizes:
        where = Selection(clusters=(size.cluster,))
        read = cards[size.cluster] or list(store.scan(Card, where, order="oldest", limit=MAX_CAPTURES_READ))
        yield _cluster(size, read)


def _cluster(size: ClusterSize, cards: Sequence[Card]) -> ListedCluster:
    pages = [page.card for page in cluster_pages(cards)]
    known = size.pages <= len(cards) and all(card.text_digest for card in pages)
    texts = list({card.text_digest: card for card in reversed(pages)}.values()) if known else []
    first = pages[0] if pages else None
    return ListedCluster(size.cluster, size.pages, size.urls, size.sites, len(texts) or None, texts, first)


def _with_lowest(cluster: ListedCluster, found: Likeness | None) -> ListedCluster:
    return replace(cluster, lowest=found.resemblance, kind=found.kind, error=found.error) if found else cluster


def _by_lowest(comparer: PageComparer, clusters: Sequence[ListedCluster]) -> list[ListedCluster]:
    """Sort clusters by the estimated resemblance of their lowest pair, those without an estimate last."""
    comparable = [each for each in clusters if len(each.cards) <= MAX_TEXTS_COMPARED]
    comparer.prepare_sketches(card for each in comparable for card in each.cards if len(each.cards) > 1)
    estimated = {each.id: _lowest(comparer, each) for each in comparable}
    return sorted(clusters, key=lambda each: _resemblance(estimated.get(each.id)))


def _lowest_pairs(comparer: PageComparer, clusters: Sequence[ListedCluster]) -> dict[str, Likeness | None]:
    """Compare the texts of each cluster, exactly up to MAX_SHINGLES in all. Clusters with the fewest come first."""
    comparable = [each for each in clusters if len(each.cards) <= MAX_TEXTS_COMPARED]
    for each in sorted(comparable, key=lambda each: each.shingles):
        if len(each.cards) > 1:
            comparer.prepare(each.cards)
    comparer.prepare_sketches(card for each in comparable for card in each.cards if len(each.cards) > 1)
    return {each.id: _lowest(comparer, each) for each in comparable}


def _lowest(comparer: PageComparer, cluster: ListedCluster) -> Likeness | None:
    if len(cluster.cards) == 1:
        return Likeness(1.0, 1.0, 1.0, "exact", 0.0)
    pair = lowest(comparer.pairs(cluster.cards))
    return pair and pair.likeness


def _resemblance(likeness: Likeness | None) -> float:
    return likeness.resemblance if likeness else 2.0  # unknown ones come last
