"""Counts what a store holds: pages by crawl, site and month, how often fingerprints repeat, and common texts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar, NamedTuple

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.upkeep.common_texts import CommonText, common_texts
from opensearch_winnow.operations.upkeep.power_law import PowerLaw, power_law
from opensearch_winnow.stores.store import Statistics, Store


@dataclass(slots=True)
class PageCounts:
    """Counts of the pages in a store, by crawl, site and month."""

    TOP: ClassVar = 10  # sites in a list of the largest
    SAMPLE: ClassVar = 1_000  # pages in `sample`

    crawls: Counter[str] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)  # keys like 2024-03; pages without a time are not counted
    duplicates: Counter[str] = field(default_factory=Counter)  # by how the page equals an earlier one
    undated: int = 0  # captures without a time, also because theirs cannot be right
    unfilled_revisits: int = 0  # revisits without a text, because the page that they repeat is not stored
    first: str | None = None  # day of the first capture
    last: str | None = None
    example: str = ""  # the URL of one page
    sample: list[str] = field(default_factory=list)  # ids of a fair sample of pages, the same in each run


def page_counts(cards: Iterable[Card]) -> PageCounts:
    """Count the pages of a store in one pass over their cards."""
    counts = PageCounts()
    first: datetime | None = None
    last: datetime | None = None
    bound: str | None = None  # ids from here on are not in the sample
    for card in cards:
        counts.crawls[card.crawl] += 1
        counts.sites[card.site] += 1
        if card.duplicate is not None:
            counts.duplicates[card.duplicate] += 1
        counts.example = counts.example or card.url
        counts.undated += card.fetched_at is None
        counts.unfilled_revisits += card.duplicate == "revisit" and not card.text_digest
        if card.fetched_at is not None:
            counts.months[f"{card.fetched_at.year:04}-{card.fetched_at.month:02}"] += 1
            first = min(first or card.fetched_at, card.fetched_at)
            last = max(last or card.fetched_at, card.fetched_at)
        if bound is None or card.id < bound:  # ids are hashes, so the smallest are a fair sample
            counts.sample.append(card.id)
            if len(counts.sample) == 2 * counts.SAMPLE:
                counts.sample = sorted(counts.sample)[: counts.SAMPLE]
                bound = counts.sample[-1]
    counts.sample = sorted(counts.sample)[: counts.SAMPLE]
    counts.first, counts.last = (None if time is None else f"{time:%Y-%m-%d}" for time in (first, last))
    return counts


class StoreFigures(NamedTuple):
    """Everything that is counted in a store."""

    statistics: Statistics
    pages: PageCounts
    power_law: PowerLaw | None  # of the fingerprints; None if each is on one page only
    common_texts: Sequence[CommonText]  # in a sample of the pages; empty if they were not sought
    at: datetime  # when it was counted
    seconds: float


def store_figures(store: Store, *, with_common_texts: bool) -> StoreFigures:
    """Count everything in a store, in one pass over its cards."""
    start, at = time.monotonic(), datetime.now(UTC)
    statistics = store.statistics()
    pages = page_counts(store.scan(Card))
    law = power_law(statistics.frequencies["fingerprints"])
    texts = common_texts(store, pages.sample) if with_common_texts else []
    return StoreFigures(statistics, pages, law, texts, at, time.monotonic() - start)
