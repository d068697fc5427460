"""Counts the contents of a store: pages by crawl, site and month, repeated fingerprints, and common texts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from opensearch_winnow.foundation.answers import Answer, Tabular, answer, derived, key
from opensearch_winnow.foundation.figures import Figure, counted, figures_of
from opensearch_winnow.foundation.option_kinds import FLAG
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.sqlite_schema import current_format
from opensearch_winnow.operations.upkeep.common_texts import CommonText, common_texts
from opensearch_winnow.operations.upkeep.power_law import PowerLaw, power_law
from opensearch_winnow.queries.asking.lookups import Field
from opensearch_winnow.stores.store import Store

MAX_SITES = 10  # in a list of the largest
SAMPLE_SIZE = 1_000  # pages


@dataclass(slots=True)
class PageCounts:
    """Counts of the pages in a store, by crawl, site and month."""

    crawls: Counter[str] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    months: Counter[str] = field(default_factory=Counter)  # keys like 2024-03; pages without a time are not counted
    duplicates: Counter[str] = field(default_factory=Counter)  # captures that equal an earlier one, by the equal part
    undated: int = 0  # captures without a time, or with an impossible one
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
            if len(counts.sample) == 2 * SAMPLE_SIZE:
                counts.sample = sorted(counts.sample)[:SAMPLE_SIZE]
                bound = counts.sample[-1]
    counts.sample = sorted(counts.sample)[:SAMPLE_SIZE]
    counts.first, counts.last = (None if time is None else f"{time:%Y-%m-%d}" for time in (first, last))
    return counts


@answer
class TokenCounts(Answer):
    """The tokens of one field."""

    total: int = key("The number of tokens of all pages.")
    different: int = key("The number of different tokens.")
    frequencies: list[tuple[int, int]] = key("Pairs of a number of pages, and the number of tokens on that many pages.")

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> Self:
        """Return the figures of tokens by the number of pages that they are on."""
        return cls(sum(on * tokens for on, tokens in counts.items()), sum(counts.values()), sorted(counts.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOptions(Options):
    """The figures of a store that are wanted."""

    verify: bool = option(False, FLAG, "First read all of a store file, and check its structure and checksums.")
    common_texts: bool = False


@answer
class StoreFigures(Tabular):
    """Everything that is counted in a store. Pages are captures."""

    row = Figure

    store: str = key("The name of the store.")
    format: int = key("The version of the format of a store in a file.")
    scheme: Scheme = key("The scheme of all hashes.")
    pages: int = key("The number of captures.")
    urls: int = key("The number of different URLs.")
    sites: int = key("The number of sites.")
    stale: int | None = key(
        "The number of documents of an attached index that are new, or have another text than their fields were made"
        " from; null for other stores."
    )
    crawls: dict[str, int] = key("The number of captures by crawl, most first.")
    top_sites: dict[str, int] = key("The number of captures by site: the ten largest.")
    months: dict[str, int] = key("The number of captures by month, such as 2024-03.")
    first: str | None = key("The day of the first capture; null if no time is known.")
    last: str | None = key("The day of the last capture; null if no time is known.")
    undated: int = key("The number of captures without a time, or with an impossible one.")
    unfilled_revisits: int = key(
        "The number of revisits without a text, because the page that they repeat is not stored."
    )
    duplicates: dict[str, int] = key("The number of captures that equal an earlier one, by the part that is equal.")
    tokens: dict[Field, TokenCounts] = key("The tokens of each field, and the number of pages they are on.")
    power_law: PowerLaw | None = key("The law of the fingerprints; null if each is on one page only.")
    sizes: dict[str, int] = key("The bytes of the store by their use.")
    common_texts: list[CommonText] | None = key("The texts that most pages share; null if they were not sought.")
    at: datetime = key("The time when it was counted.")
    seconds: float = key("The time it took.")
    example: str  # the URL of one page

    @property
    @derived
    def bytes(self) -> int:
        """The number of bytes of the store."""
        return sum(self.sizes.values())

    @property
    @derived
    def bytes_per_page(self) -> float:
        """The number of bytes of the store per capture."""
        return self.bytes / max(self.pages, 1)

    def rows(self) -> Iterator[Figure]:
        """Yield all numbers."""
        yield from figures_of("scheme", self.scheme)
        yield from figures_of("count", self, "pages", "urls", "sites", "stale", "undated", "unfilled_revisits")
        for part, counts in (
            ("crawl", self.crawls),
            ("site", self.top_sites),
            ("month", self.months),
            ("duplicate", self.duplicates),
            ("bytes", {**self.sizes, "all": self.bytes}),
        ):
            yield from counted(part, counts)
        for name, tokens in self.tokens.items():
            yield from counted(f"{name} on pages", dict(tokens.frequencies))
        if self.power_law:
            yield from figures_of("power law", self.power_law)


def store_figures(store: Store, name: str, *, with_common_texts: bool) -> StoreFigures:
    """Count everything in a store, in one pass over its cards. `name` is that of the store, as it is shown."""
    start, at = time.monotonic(), datetime.now(UTC).replace(microsecond=0)
    statistics = store.statistics()
    pages = page_counts(store.scan(Card))
    return StoreFigures(
        store=name,
        format=current_format(),
        scheme=store.scheme,
        pages=statistics.pages,
        urls=statistics.urls,
        sites=statistics.sites,
        stale=statistics.stale,
        crawls=dict(pages.crawls.most_common()),
        top_sites=dict(pages.sites.most_common(MAX_SITES)),
        months=dict(sorted(pages.months.items())),
        first=pages.first,
        last=pages.last,
        undated=pages.undated,
        unfilled_revisits=pages.unfilled_revisits,
        duplicates=dict(pages.duplicates.most_common()),
        tokens={field: TokenCounts.of(counts) for field, counts in statistics.frequencies.items()},
        power_law=power_law(statistics.frequencies["fingerprints"]),
        sizes=statistics.sizes,
        common_texts=common_texts(store, pages.sample) if with_common_texts else None,
        at=at,
        seconds=time.monotonic() - start,
        example=pages.example,
    )
