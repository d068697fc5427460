"""The clusters of a store, the largest first, as JSON values."""

from __future__ import annotations

from typing import TypedDict

from opensearch_winnow.answers.card_document import CardDocument, card_document
from opensearch_winnow.answers.clustering_document import ClusteringDocument, clustering_document
from opensearch_winnow.answers.compared_pages import ComparedPages, lowest
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.stores.store import ClusterSize

LOOKED_AT = 60  # pages of a cluster; of a larger one its own screen tells more
TEXTS = 24  # different ones that are compared for a list
SHINGLES = 1_000_000  # of all texts that are; those of the clusters that have the fewest come first


class ClusterLineDocument(TypedDict):
    """`texts` are the different ones of its pages, and `lowest` the resemblance of the two that are least alike: null
    where it would take too long for a list."""

    id: str
    pages: int
    sites: int
    texts: int | None
    lowest: float | None
    representative: CardDocument | None


class RunningDocument(TypedDict):
    """A clustering that is going on: how much of this phase is done, of how much, if that is known."""

    phase: str
    done: int
    total: int | None
    seconds: float
    stopping: bool


class ClustersDocument(TypedDict):
    """`pages` is how many the store has now; what the last `clustering` found may be older than the list. `more` says
    whether there is a next page of clusters."""

    pages: int
    clustering: ClusteringDocument | None
    running: RunningDocument | None
    failure: str | None
    clusters: list[ClusterLineDocument]
    more: bool


def clusters_document(
    index: Index, *, least: int, limit: int, offset: int, running: RunningDocument | None, failure: str
) -> ClustersDocument:
    found = index.clusters(least=least, limit=limit + 1, offset=offset)
    lines = [_line(index, each) for each in found[:limit]]
    compared = ComparedPages(index, shingles=0 if running else SHINGLES)  # it is looked at every few seconds then
    for line, cards in sorted(lines, key=lambda each: sum(card.shingle_count for card in each[1])):
        line["lowest"] = _lowest(compared, cards)
    return {
        "pages": index.store.count(),
        "clustering": clustering_document(index.clustering()),
        "running": running,
        "failure": failure or None,
        "clusters": [line for line, _ in lines],
        "more": len(found) > limit,
    }


def _line(index: Index, size: ClusterSize) -> tuple[ClusterLineDocument, list[Card]]:
    """With a page for each different text of the cluster, if these are known."""
    cards = index.cluster_members(size.cluster, limit=LOOKED_AT)
    known = size.pages <= len(cards) and all(card.text_digest for card in cards)
    different = list({card.text_digest: card for card in reversed(cards)}.values()) if known else []
    own = next((card for card in cards if card.id == size.cluster), cards[0] if cards else None)
    line: ClusterLineDocument = {
        "id": size.cluster,
        "pages": size.pages,
        "sites": size.sites,
        "texts": len(different) or None,
        "lowest": None,
        "representative": own and card_document(own),
    }
    return line, different


def _lowest(compared: ComparedPages, cards: list[Card]) -> float | None:
    """Of pages with different texts; None if not all of them can be read."""
    if len(cards) == 1:
        return 1.0
    if not 1 < len(cards) <= TEXTS:
        return None
    compared.add(cards)
    pair = lowest(compared.pairs(cards)) if all(compared.side(card) for card in cards) else None
    return pair and pair.likeness.resemblance
