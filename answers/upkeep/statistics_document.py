"""Statistics of a store: as JSON values, and sentences about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from opensearch_winnow.answers.clusters.clusters_document import ClusteringDocument
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.sqlite_schema import MIGRATIONS
from opensearch_winnow.operations.upkeep.common_texts import CommonText
from opensearch_winnow.operations.upkeep.power_law import PowerLaw
from opensearch_winnow.operations.upkeep.store_figures import StoreFigures


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


class CommonTextDocument(TypedDict):
    """The beginning of a common text, as one page has it. `phrase` is its most common part, and `pages` says how many
    pages have that; `characters` is the length of the whole text."""

    text: str
    phrase: str
    characters: int
    pages: int
    id: str
    url: str


class PowerLawDocument(TypedDict):
    exponent: float
    error: float
    distance: float
    rank_slope: float | None


class StatisticsDocument(TypedDict):
    """Counts of a store. `months` leaves out the `undated` pages, those without a time. `unfilled_revisits` have no
    text, because the page that they repeat is not stored. `stale` counts the documents of an attached index that are
    new, or have another text than their fields were made from; it is null for other stores."""

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
    undated: int
    unfilled_revisits: int
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


def statistics_document(name: str, scheme: Scheme, figures: StoreFigures) -> StatisticsDocument:
    """Return all statistics. Frequencies are pairs, because the keys of a JSON object cannot be numbers."""
    statistics, pages, law = figures.statistics, figures.pages, figures.power_law
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
        "undated": pages.undated,
        "unfilled_revisits": pages.unfilled_revisits,
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


def counted_document(name: str, scheme: Scheme, figures: StoreFigures) -> CountedDocument:
    """Return all statistics and common texts, except the `clustering`, which a request reads by itself."""
    return {
        **statistics_document(name, scheme, figures),
        "common_texts": list(map(common_text_document, figures.common_texts)),
        "clustering": None,
        "at": figures.at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "seconds": round(figures.seconds, 3),
    }


def common_text_document(text: CommonText) -> CommonTextDocument:
    return {
        "text": text.text,
        "phrase": text.phrase,
        "characters": text.characters,
        "pages": text.pages,
        "id": text.id,
        "url": text.url,
    }


def power_law_sentences(law: PowerLaw | None) -> Iterator[str]:
    """Yield sentences about a power law: its exponent, how well it fits, and its slope over rank."""
    if law is None:
        yield "no power law: every fingerprint is on one page only"
        return
    fit = "well" if law.distance < 0.05 else "roughly" if law.distance < 0.15 else "badly"
    yield f"power law: fingerprints ∝ pages^−{law.exponent:.2f} (± {law.error:.2g}), by maximum likelihood"
    off = f"{law.distance:.1%}".replace("%", " %")
    yield f"it fits {fit}: off by at most {off} of the fingerprints"
    if law.rank_slope is not None:
        yield f"as in the winnowing paper: frequency ∝ rank^{law.rank_slope:.2f}".replace("^-", "^−") + " (there −0.7)"
