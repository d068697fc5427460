"""Statistics of a store, as JSON values."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TypedDict

from opensearch_winnow.answers.clusters_document import ClusteringDocument
from opensearch_winnow.answers.common_texts import CommonTextDocument, common_texts
from opensearch_winnow.answers.page_counts import PageCounts, page_counts
from opensearch_winnow.answers.power_law import PowerLaw, power_law
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.sqlite_schema import MIGRATIONS
from opensearch_winnow.stores.store import Statistics


class SchemeDocument(TypedDict):
    id: str
    noise: int
    guarantee: int
    selection: str
    form: str
    fold_confusables: bool
    keyed: bool
    shingle: int


class TokensDocument(TypedDict):
    """`frequencies` has pairs of a number of pages and how many different tokens are on that many pages."""

    total: int
    different: int
    frequencies: list[tuple[int, int]]


class PowerLawDocument(TypedDict):
    exponent: float
    error: float
    distance: float
    rank_slope: float | None


class StatisticsDocument(TypedDict):
    """Counts of a store. `months` leaves out pages without a capture time. `stale` counts the documents of an attached
    index that are new, or have another text than their fields were made from; it is null for other stores."""

    store: str
    format: int
    scheme: SchemeDocument
    pages: int
    urls: int
    sites: int
    stale: int | None
    crawls: dict[str, int]
    top_sites: dict[str, int]
    months: dict[str, int]
    first: str | None
    last: str | None
    duplicates: dict[str, int]
    tokens: dict[str, TokensDocument]
    power_law: PowerLawDocument | None
    sizes: dict[str, int]
    bytes: int
    bytes_per_page: float


class CountedDocument(StatisticsDocument):
    """Statistics with the parts that take longer to compute, when they were computed (`at`) and for how long.
    `common_texts` come from a sample of pages; `clustering` describes the last clustering run."""

    common_texts: list[CommonTextDocument]
    clustering: ClusteringDocument | None
    at: str
    seconds: float


def statistics_document(
    name: str, scheme: Scheme, statistics: Statistics, pages: PageCounts, law: PowerLaw | None
) -> StatisticsDocument:
    """Return all statistics. Frequencies are pairs, because the keys of a JSON object cannot be numbers."""
    return {
        "store": name,
        "format": len(MIGRATIONS),
        "scheme": {
            "id": scheme.id,
            "noise": scheme.noise,
            "guarantee": scheme.guarantee,
            "selection": scheme.selection,
            "form": scheme.form,
            "fold_confusables": scheme.fold_confusables,
            "keyed": scheme.key is not None,
            "shingle": scheme.shingle,
        },
        "pages": statistics.pages,
        "urls": statistics.urls,
        "sites": statistics.sites,
        "stale": statistics.stale,
        "crawls": dict(pages.crawls.most_common()),
        "top_sites": dict(pages.sites.most_common(pages.TOP)),
        "months": dict(sorted(pages.months.items())),
        "first": pages.first,
        "last": pages.last,
        "duplicates": dict(pages.duplicates.most_common()),
        "tokens": {
            field: {
                "total": sum(on * tokens for on, tokens in counts.items()),
                "different": sum(counts.values()),
                "frequencies": sorted(counts.items()),
            }
            for field, counts in statistics.frequencies.items()
        },
        "power_law": None if law is None else {**law._asdict()},  # type: ignore[typeddict-item]
        "sizes": statistics.sizes,
        "bytes": sum(statistics.sizes.values()),
        "bytes_per_page": sum(statistics.sizes.values()) / max(statistics.pages, 1),
    }


def counted_document(index: Index) -> CountedDocument:
    """Count everything in a store, except its `clustering`, which a request reads by itself."""
    start, at = time.monotonic(), datetime.now(UTC)
    statistics = index.statistics()
    pages = page_counts(index.store.scan(Card))
    law = power_law(statistics.frequencies["fingerprints"])
    return {
        **statistics_document(index.name, index.scheme, statistics, pages, law),
        "common_texts": common_texts(index, pages.sample),
        "clustering": None,
        "at": at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "seconds": round(time.monotonic() - start, 3),
    }
