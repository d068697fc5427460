"""How many pages there are of each crawl and site, and from when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from opensearch_winnow.mappings.card import Card


@dataclass(slots=True)
class PageCounts:
    TOP: ClassVar = 10  # sites that are shown

    crawls: Counter[str] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)  # how they equal an earlier page
    first: str | None = None  # days
    last: str | None = None
    example: str = ""  # a URL


def page_counts(cards: Iterable[Card]) -> PageCounts:
    counts = PageCounts()
    first: datetime | None = None
    last: datetime | None = None
    for card in cards:
        counts.crawls[card.crawl] += 1
        counts.sites[card.site] += 1
        if card.duplicate is not None:
            counts.duplicates[card.duplicate] += 1
        counts.example = counts.example or card.url
        if card.fetched_at is not None:
            first = min(first or card.fetched_at, card.fetched_at)
            last = max(last or card.fetched_at, card.fetched_at)
    counts.first, counts.last = (None if time is None else f"{time:%Y-%m-%d}" for time in (first, last))
    return counts
