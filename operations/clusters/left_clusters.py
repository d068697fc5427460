"""Clusters pages again when the representative of their cluster is deleted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import LargestCluster, LastClustering
from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.asking.page_comparer import PageComparer
from opensearch_winnow.operations.asking.side_cache import SideCache
from opensearch_winnow.queries.filters import Selection
from opensearch_winnow.queries.scores import NO_SKETCHES, Sketches
from opensearch_winnow.queries.searching.representative_rule import RepresentativeRule
from opensearch_winnow.queries.searching.representatives import Representatives
from opensearch_winnow.stores.store import Store

CLUSTERING = "clustering"  # the store's setting with the result of the last clustering
CLUSTERS_PER_SCAN = 200
PAGES_PER_BATCH = 1_000  # whose sketches are in memory
LARGEST_LISTED = 10


def last_clustering(store: Store) -> LastClustering | None:
    """Return the result of the last clustering of a store; None if there was none."""
    written = store.settings.get(CLUSTERING)
    return written and LastClustering.read(written)


def cluster_what_is_left(store: Store, representatives: Sequence[str], deleted: Collection[str]) -> int:
    """Give new clusters to the pages of these `representatives`, by id, and return the number of these pages.

    As in the last clustering run, each page in order of time joins the first representative that it resembles, or
    becomes one; a chain of pages (`linkage="components"`) stays together. Pages with an id in `deleted` do not count,
    even if they are still there.
    """
    changed = 0
    for some in batches(representatives, CLUSTERS_PER_SCAN):
        left: dict[str, list[Card]] = {}
        for card in store.scan(Card, Selection(clusters=tuple(some)), order="oldest"):
            if card.id not in deleted:
                left.setdefault(card.cluster, []).append(card)
        for cards in left.values():
            changed += store.set_clusters(_new_clusters(store, cards))
    return changed


def refresh_largest(store: Store) -> None:
    """Write the largest clusters as they are now to the result of the last clustering, which names their pages."""
    last = last_clustering(store)
    if last is None or not last.largest_clusters:
        return
    sizes = {each.cluster: each.pages for each in store.clusters(limit=LARGEST_LISTED)}
    cards = store.read(sizes, Card)
    largest = [
        LargestCluster(pages, id_, cards[id_].url, cards[id_].title).to_dict()
        for id_, pages in sizes.items()
        if id_ in cards
    ]

    def with_largest(result: dict[str, Any] | None) -> dict[str, Any] | None:
        return result and (result | {"largest_clusters": largest} if "largest_clusters" in result else result)

    store.settings.change(CLUSTERING, with_largest)


def _new_clusters(store: Store, cards: Sequence[Card]) -> dict[str, str]:
    """Return the new cluster of each page, by id. `cards` are in order of time."""
    options = last_clustering(store) or ClusteringOptions()
    chained = options.linkage == "components"
    groups: Sequence[Sequence[Card]] = [cards] if chained else _groups(store, cards, options.threshold)
    rule = RepresentativeRule.of(options.representative)
    return {card.id: group[rule.first(group)].id for group in groups for card in group}


def _groups(store: Store, cards: Sequence[Card], threshold: float) -> list[list[Card]]:
    """Return the pages that join the same representative."""
    first_with: dict[str, Card] = {}  # by text
    for card in cards:
        first_with.setdefault(card.text_digest or card.id, card)
    distinct = list(first_with.values())
    grouping = Representatives(store.scheme, threshold)
    comparer = PageComparer(store, sides=SideCache(store.scheme))
    representatives: dict[str, str] = {}  # by text
    for some in batches(distinct, PAGES_PER_BATCH):
        sketches = store.read([card.id for card in some], Sketches)
        batch = grouping.begin([sketches.get(card.id, NO_SKETCHES) for card in some])
        while pairs := batch.undecided:
            sides = comparer.sides_of_pairs([(distinct[one], distinct[other]) for one, other in pairs])
            batch.settle([each and comparer.scores(*each).resemblance for each in sides])
        for card, join in zip(some, grouping.commit(batch), strict=True):
            representative = card if join is None else distinct[join.representative]
            representatives[card.text_digest or card.id] = representative.id
    groups: dict[str, list[Card]] = {}
    for card in cards:
        groups.setdefault(representatives[card.text_digest or card.id], []).append(card)
    return list(groups.values())
