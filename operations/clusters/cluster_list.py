"""Lists the clusters of a store, sorted and filtered, with the resemblance of their pages that are least alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

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


class ListedCluster(NamedTuple):
    """A cluster in a list, and what is known of its texts."""

    size: ClusterSize
    representative: Card | None
    texts: Sequence[Card]  # a page for each different text of its URLs; empty if there are too many captures to tell
    lowest: Likeness | None = None  # of the two texts that are least alike; None where computing it would take too long

    @property
    def shingles(self) -> int:
        """The number of shingles in all its texts."""
        return sum(card.shingle_count for card in self.texts)


class ClusterList(NamedTuple):
    """One part of a list of clusters."""

    clusters: Sequence[ListedCluster]
    found: int  # clusters in the whole list
    largest: int  # URLs of the largest of them
    repeats: int  # clusters left out, because all their captures are of one URL
    among: int | None  # the list was taken from this many of the largest clusters; None: from all
    more: bool  # whether another part of the list follows


def cluster_list(
    store: Store,
    *,
    least: int,
    order: ClusterOrder,
    site: str | None,
    limit: int,
    offset: int,
    compare: bool,
) -> ClusterList:
    """List the clusters of at least `least` URLs, one of them on `site` if given. Without `compare`, read no texts."""
    sizes = store.clusters(least=max(least, 2), site=site, limit=MAX_CLUSTERS_SORTED + 1)
    among = MAX_CLUSTERS_SORTED if len(sizes) > MAX_CLUSTERS_SORTED else None
    found = [size for size in sizes[:MAX_CLUSTERS_SORTED] if size.urls >= least]
    found.sort(key=lambda size: (-size.urls, -size.pages, size.cluster))
    comparer = PageComparer.of(store, max_shingles=MAX_SHINGLES) if compare else None
    if order == "lowest" and len(found) > MAX_CLUSTERS_ESTIMATED:
        found, among = found[:MAX_CLUSTERS_ESTIMATED], MAX_CLUSTERS_ESTIMATED
    found.sort(key=_sort_key(store, order, found))  # stable: equal ones stay the largest first
    if order == "lowest" and comparer:
        clusters = _by_lowest(comparer, list(_clusters(store, found)))[offset : offset + limit]
    else:
        clusters = list(_clusters(store, found[offset : offset + limit]))
    likenesses = _lowest_pairs(comparer, clusters) if comparer else {}
    clusters = [each._replace(lowest=likenesses.get(each.size.cluster)) for each in clusters]
    if order == "lowest":  # the order of estimates is not quite that of what is shown
        clusters.sort(key=lambda each: _resemblance(each.lowest))
    return ClusterList(
        clusters=clusters,
        found=len(found),
        largest=max((size.urls for size in found), default=0),
        repeats=sum(size.urls == 1 for size in sizes[:MAX_CLUSTERS_SORTED]) if least > 1 else 0,
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
    """Yield the clusters with what is known of their texts; the small ones are read many at a time."""
    small = [size.cluster for size in sizes if size.pages <= MAX_CAPTURES_READ]
    cards: dict[str, list[Card]] = defaultdict(list)
    for start in range(0, len(small), CLUSTERS_PER_READ):
        where = Selection(clusters=tuple(small[start : start + CLUSTERS_PER_READ]))
        for card in store.scan(Card, where, order="oldest", limit=CLUSTERS_PER_READ * MAX_CAPTURES_READ):
            cards[card.cluster].append(card)
    for size in sizes:
        some = Selection(clusters=(size.cluster,))
        read = cards[size.cluster] or list(store.scan(Card, some, order="oldest", limit=MAX_CAPTURES_READ))
        yield _cluster(size, read)


def _cluster(size: ClusterSize, cards: Sequence[Card]) -> ListedCluster:
    pages = [page.card for page in cluster_pages(cards)]
    known = size.pages <= len(cards) and all(card.text_digest for card in pages)
    texts = list({card.text_digest: card for card in reversed(pages)}.values()) if known else []
    return ListedCluster(size, pages[0] if pages else None, texts)


def _by_lowest(comparer: PageComparer, clusters: Sequence[ListedCluster]) -> list[ListedCluster]:
    """Sort clusters by the estimated resemblance of their lowest pair, those without an estimate last."""
    comparable = [each for each in clusters if len(each.texts) <= MAX_TEXTS_COMPARED]
    comparer.prepare_sketches(card for each in comparable for card in each.texts if len(each.texts) > 1)
    estimated = {each.size.cluster: _lowest(comparer, each) for each in comparable}
    return sorted(clusters, key=lambda each: _resemblance(estimated.get(each.size.cluster)))


def _lowest_pairs(comparer: PageComparer, clusters: Sequence[ListedCluster]) -> dict[str, Likeness | None]:
    """Compare the texts of each cluster: exactly as far as there is room for them, those with the fewest first."""
    comparable = [each for each in clusters if len(each.texts) <= MAX_TEXTS_COMPARED]
    for each in sorted(comparable, key=lambda each: each.shingles):
        if len(each.texts) > 1:
            comparer.prepare(each.texts)
    comparer.prepare_sketches(card for each in comparable for card in each.texts if len(each.texts) > 1)
    return {each.size.cluster: _lowest(comparer, each) for each in comparable}


def _lowest(comparer: PageComparer, cluster: ListedCluster) -> Likeness | None:
    if len(cluster.texts) == 1:
        return Likeness(1.0, 1.0, 1.0, "exact", 0.0)
    pair = lowest(comparer.pairs(cluster.texts))
    return pair and pair.likeness


def _resemblance(likeness: Likeness | None) -> float:
    return likeness.resemblance if likeness else 2.0  # unknown ones come last
