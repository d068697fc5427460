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
    SAMPLE: ClassVar = 1_000

    crawls: Counter[str] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)  # as 2024-03; without the pages whose time is not known
    duplicates: Counter[str] = field(default_factory=Counter)  # how they equal an earlier page
    first: str | None = None  # days
    last: str | None = None
    example: str = ""  # a URL
    sample: list[str] = field(default_factory=list)  # ids of some pages: a fair sample, and always the same


def page_counts(cards: Iterable[Card]) -> PageCounts:
    counts = PageCounts()
    first: datetime | None = None
    last: datetime | None = None
    above: str | None = None  # from this id on there are enough below
    for card in cards:
        counts.crawls[card.crawl] += 1
        counts.sites[card.site] += 1
        if card.duplicate is not None:
            counts.duplicates[card.duplicate] += 1
        counts.example = counts.example or card.url
        if card.fetched_at is not None:
            counts.months[f"{card.fetched_at.year:04}-{card.fetched_at.month:02}"] += 1
            first = min(first or card.fetched_at, card.fetched_at)
            last = max(last or card.fetched_at, card.fetched_at)
        if above is None or card.id < above:  # ids are hashes: the smallest of them are in no way alike
            counts.sample.append(card.id)
            if len(counts.sample) == 2 * counts.SAMPLE:
                counts.sample = sorted(counts.sample)[: counts.SAMPLE]
                above = counts.sample[-1]
    counts.sample = sorted(counts.sample)[: counts.SAMPLE]
    counts.first, counts.last = (None if time is None else f"{time:%Y-%m-%d}" for time in (first, last))
    return counts
