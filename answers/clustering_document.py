"""What the last clustering of a store has found, as JSON values."""

from __future__ import annotations

from typing import Any, TypedDict


class ClusteringDocument(TypedDict):
    """As it was then: pages may have come and gone since. `sizes` tells how many clusters had so many pages,
    `identical_sizes` how many of them were of identical pages only; `histogram` how many of the compared pairs
    had which resemblance, in equal ranges from 0 to 1."""

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


def clustering_document(kept: dict[str, Any] | None) -> ClusteringDocument | None:
    """Of what `Index.clustering` tells."""
    if kept is None:
        return None
    return {
        "at": kept["at"],
        "threshold": kept["threshold"],
        "linkage": kept["linkage"],
        "fast": kept["fast"],
        "pages": kept["pages"],
        "contents": kept["contents"],
        "clusters": kept["clusters"],
        "clustered_pages": kept["clustered_pages"],
        "identical_clusters": kept["identical_clusters"],
        "identical_pages": kept["identical_pages"],
        "sizes": kept["sizes"],
        "identical_sizes": kept["identical_sizes"],
        "compared": kept["candidates"]["compared"],
        "histogram": kept["candidates"]["histogram"],
    }
