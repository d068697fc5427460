"""The clusters of a store, largest first, and the run that found them, as JSON values."""

from __future__ import annotations

from typing import Any, TypedDict

from opensearch_winnow.answers.compared_pages import ComparedPages, lowest
from opensearch_winnow.answers.formatting import time_stamp
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.stores.store import ClusterSize

MAX_MEMBERS_READ = 60  # per cluster; the texts of a larger cluster are counted on its own screen only
MAX_TEXTS_COMPARED = 24  # different texts per cluster
MAX_SHINGLES = 1_000_000  # in all texts compared for one list; clusters with the fewest come first


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
    """A cluster in a list. `texts` counts its different texts, and `lowest` is the resemblance of the two that are
    least alike; both are null where computing them would take too long for a list."""

    id: str
    pages: int
    sites: int
    texts: int | None
    lowest: float | None
    representative: CardDocument | None


class RunningDocument(TypedDict):
    """A clustering run in progress: how much of its current phase is done, and of how much, if known."""

    phase: str
    done: int
    total: int | None
    seconds: float
    stopping: bool


class ClustersDocument(TypedDict):
    """`pages` is how many the store has now; the last `clustering` run may be older. `more` says whether there is a
    next page of clusters."""

    pages: int
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


def clusters_document(
    index: Index, *, least: int, limit: int, offset: int, running: RunningDocument | None, failure: str
) -> ClustersDocument:
    """List the clusters of at least `least` pages."""
    sizes = index.clusters(least=least, limit=limit + 1, offset=offset)
    lines = [_line(index, size) for size in sizes[:limit]]
    # While a run is in progress the list is reloaded every few seconds, so nothing is compared.
    compared = ComparedPages(index, max_shingles=0 if running else MAX_SHINGLES)
    for line, cards in sorted(lines, key=lambda each: sum(card.shingle_count for card in each[1])):
        line["lowest"] = _lowest(compared, cards)
    return {
        "pages": index.store.count(),
        "clustering": clustering_document(index.clustering()),
        "running": running,
        "failure": failure or None,
        "clusters": [line for line, _ in lines],
        "more": len(sizes) > limit,
    }


def _line(index: Index, size: ClusterSize) -> tuple[ClusterLineDocument, list[Card]]:
    """Return the line of a cluster, and a page for each of its different texts if those are known."""
    cards = index.cluster_members(size.cluster, limit=MAX_MEMBERS_READ)
    known = size.pages <= len(cards) and all(card.text_digest for card in cards)
    different = list({card.text_digest: card for card in reversed(cards)}.values()) if known else []
    representative = next((card for card in cards if card.id == size.cluster), cards[0] if cards else None)
    line: ClusterLineDocument = {
        "id": size.cluster,
        "pages": size.pages,
        "sites": size.sites,
        "texts": len(different) or None,
        "lowest": None,
        "representative": representative and card_document(representative),
    }
    return line, different


def _lowest(compared: ComparedPages, cards: list[Card]) -> float | None:
    """Return the lowest resemblance of pages with different texts, or None if not all of them can be read."""
    if len(cards) == 1:
        return 1.0
    if not 1 < len(cards) <= MAX_TEXTS_COMPARED:
        return None
    compared.add(cards)
    pair = lowest(compared.pairs(cards)) if all(compared.side(card) for card in cards) else None
    return pair and pair.likeness.resemblance
