"""The pages of a cluster: one capture for each URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opensearch_winnow.mappings.card import Card


class ClusterPage(NamedTuple):
    """A URL of a cluster."""

    card: Card  # the representative, or else the latest of its captures in the cluster
    captures: int  # in the cluster


def cluster_pages(cards: Sequence[Card]) -> list[ClusterPage]:
    """Return a page for each URL of a cluster: the representative's first, the others in the order of `cards`.

    `cards` are the captures of the cluster, oldest first. If the representative is no longer in the store, the first
    one stands for it.
    """
    if not cards:
        return []
    representative = next((card for card in cards if card.id == card.cluster), cards[0])
    by_url: dict[str, list[Card]] = {representative.url: []}
    for card in cards:
        by_url.setdefault(card.url, []).append(card)
    return [
        ClusterPage(representative if url == representative.url else _latest(captures), len(captures))
        for url, captures in by_url.items()
    ]


def _latest(captures: Sequence[Card]) -> Card:
    """Return the latest of captures in the order of time, in which those without a time come last."""
    return next((card for card in reversed(captures) if card.fetched_at), captures[-1])
