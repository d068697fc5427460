"""The clusters of a store, sorted and filtered, and the run that found them, as JSON values."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from opensearch_winnow.answers.formatting import time_stamp
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.clusters.cluster_list import ClusterList, ListedCluster


class CardDocument(TypedDict):
    """A page as lists show it."""

    id: str
    url: str
    title: str | None
    site: str
    fetched_at: str | None


class ClusteringDocument(TypedDict):
    """The result of the last clustering run; pages may have come and gone since.

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


def clusters_document(
    clusters: ClusterList,
    *,
    captures: int,
    clustering: dict[str, Any] | None,
    running: RunningDocument | None,
    failure: str,
) -> ClustersDocument:
    """Describe a list of clusters; the store has `captures`; `clustering` is the result of `Index.clustering`."""
    return {
        "pages": captures,
        "found": clusters.found,
        "largest": clusters.largest,
        "repeats": clusters.repeats,
        "among": clusters.among,
        "clustering": clustering_document(clustering),
        "running": running,
        "failure": failure or None,
        "clusters": list(map(_line, clusters.clusters)),
        "more": clusters.more,
    }


def _line(cluster: ListedCluster) -> ClusterLineDocument:
    likeness = cluster.lowest
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
