"""Counts of pages by crawl, site and month, and the bins in which frequencies are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from opensearch_winnow.mappings.card import Card


@dataclass(slots=True)
class PageCounts:
    """Counts of the pages in a store, by crawl, site and month."""

    TOP: ClassVar = 10  # sites in a list of the largest
    SAMPLE: ClassVar = 1_000  # pages in `sample`

    crawls: Counter[str] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)  # keys like 2024-03; pages without a time are not counted
    duplicates: Counter[str] = field(default_factory=Counter)  # by how the page equals an earlier one
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


def bins(counts: Mapping[int, int]) -> list[tuple[str, int]]:
    """Group token counts by the number of pages they are on: 1, 2, 3–10, 11–30, 31–100 and so on.

    The last bin is the last one with any tokens.
    """
    edges = [1, 2]
    most = max(counts, default=0)
    while edges[-1] < most:
        edges.append(10 if edges[-1] == 2 else edges[-1] * 3 if str(edges[-1])[0] == "1" else edges[-1] // 3 * 10)
    ends = edges if most else []
    totals: Counter[int] = Counter()
    for pages, tokens in counts.items():
        totals[next(end for end in ends if pages <= end)] += tokens
    starts = [1, *(end + 1 for end in ends)]
    labels = [
        (f"{start:,}" if start == end else f"{start:,}–{end:,}", end) for start, end in zip(starts, ends, strict=False)
    ]
    while labels and not totals[labels[-1][1]]:
        labels.pop()
    return [(label, totals[end]) for label, end in labels]
