"""The result of a clustering run in numbers. The tables it writes are described in schemas.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, fields
from datetime import UTC, datetime
from typing import Any, Self

from opensearch_winnow.clusters.options import ClusteringOptions, Linkage
from opensearch_winnow.foundation.answers import Answer, Tabular, answer, derived, key
from opensearch_winnow.foundation.figures import Figure, counted, figures_of
from opensearch_winnow.foundation.scheme import Scheme

HISTOGRAM_BARS = 50  # each bar covers 0.02 of resemblance; the last one includes 1


@answer
class LargestCluster(Answer):
    """One of the largest clusters."""

    pages: int = key("The number of its pages.")
    cluster: str = key("Its id.")
    url: str = key("The URL of its representative.")
    title: str | None = key("The title of its representative.")


@answer
class Candidates(Answer):
    """The numbers of candidate pairs that were compared, and that were left out."""

    _: KW_ONLY
    compared: int = key("The number of pairs of contents that were compared.", default=0)
    exact: int = key("The number of compared pairs that were decided by their texts.", default=0)
    edges: int = key("The number of compared pairs at or above the threshold.", default=0)
    common: int = key("The number of tokens on too many pages to propose all of their pairs.", default=0)
    longest: int = key("The number of pages that have the most common token.", default=0)
    left_out: int = key(
        "The number of pairs that common tokens did not propose; other tokens may have proposed them.", default=0
    )
    histogram: list[int] = key(
        "The number of compared pairs by resemblance, in equal bars from 0 to 1.",
        default_factory=lambda: [0] * HISTOGRAM_BARS,
    )

    def expected_recall(self, threshold: float, scheme: Scheme) -> float:
        """Estimate the share of all pairs at or above `threshold` that share a band and so were compared.

        A pair that had probability p of sharing a band stands for 1 / p pairs.
        """
        width = 1 / len(self.histogram)
        found = estimated = 0.0
        for bar, pairs in enumerate(self.histogram):
            middle = (bar + 0.5) * width
            if pairs and (bar + 1) * width > threshold:
                found += pairs
                estimated += pairs / band_probability(max(middle, threshold), scheme)
        return found / estimated if estimated else 1.0


def band_probability(resemblance: float, scheme: Scheme) -> float:
    """Return the probability that two pages of this resemblance share a band: 1 - (1 - rʳᵒʷˢ)ᵇᵃⁿᵈˢ."""
    return float(1 - (1 - resemblance**scheme.rows) ** scheme.bands)


@answer
class ClusteringResult(Tabular):
    """The result of a clustering run in numbers. A cluster has at least two pages, and each capture is a page."""

    row = Figure

    _: KW_ONLY
    engine: str = key("The engine that computed it.")
    scheme: str = key("The id of the scheme of the hashes.")
    pages: int = key("The number of pages, which are captures.")
    contents: int = key("The number of distinct sets of shingles.")
    sizes: dict[int, int] = key("The number of clusters by their number of pages.")
    identical_sizes: dict[int, int] = key("The same for clusters whose pages all have the same shingles.")
    edges: int = key("The number of similar pairs, including pairs of identical pages: the rows of the evidence.")
    candidates: Candidates = key("The numbers of pairs that were compared, and that were left out.")
    largest_clusters: list[LargestCluster] = key("The ten largest clusters, the largest first, equal sizes by id.")
    expected_recall: float | None = key(
        "The expected share of the edges that bands alone find; null unless the run was fast.", default=None
    )
    changed: int | None = key(
        "The number of pages of the store whose cluster changed; null if the store was not updated.", default=None
    )
    fresh: int | None = key("The number of contents that the state did not have; null without a state.", default=None)
    seconds: float = key("The time it took.", default=0.0)

    @property
    @derived
    def clusters(self) -> int:
        """The number of clusters."""
        return sum(self.sizes.values())

    @property
    @derived
    def clustered_pages(self) -> int:
        """The number of pages in clusters."""
        return sum(pages * clusters for pages, clusters in self.sizes.items())

    @property
    @derived
    def identical_clusters(self) -> int:
        """The number of clusters whose pages all have the same shingles."""
        return sum(self.identical_sizes.values())

    @property
    @derived
    def identical_pages(self) -> int:
        """The number of pages in clusters whose pages all have the same shingles."""
        return sum(pages * clusters for pages, clusters in self.identical_sizes.items())

    @property
    @derived
    def largest(self) -> int:
        """The number of pages of the largest cluster; 0 if there is none."""
        return max(self.sizes, default=0)

    def rows(self) -> Iterator[Figure]:
        """Yield all numbers."""
        counts = ("pages", "contents", "clusters", "clustered_pages", "identical_clusters", "identical_pages")
        yield from figures_of("count", self, *counts, "edges", "changed", "fresh")
        yield from (Figure("largest", each.url, each.pages) for each in self.largest_clusters)
        yield from figures_of("pairs", self.candidates)
        if self.expected_recall is not None:
            yield Figure("expected", "recall", self.expected_recall)
        yield from self.distributions()

    def distributions(self) -> Iterator[Figure]:
        """Yield the numbers of clusters by size, and of compared pairs by resemblance."""
        bars = self.candidates.histogram
        yield from counted("clusters of pages", self.sizes)
        yield from counted("clusters of identical pages", self.identical_sizes)
        yield from counted(
            "pairs of resemblance", {f"{i / len(bars):g}": pairs for i, pairs in enumerate(bars) if pairs}
        )


@answer
class LastClustering(ClusteringResult):
    """The last clustering that was written to a store. Since then, pages may have come and gone."""

    _: KW_ONLY
    threshold: float = key("The least resemblance of a page to the representative of its cluster.")
    linkage: Linkage = key("The rule by which pages joined clusters.")
    fast: bool = key("True if only pages that share a band were compared.")
    representative: str = key("The rule that chose the representative of each cluster.")
    at: datetime = key("The time of the run.")

    @classmethod
    def of(cls, result: ClusteringResult, options: ClusteringOptions) -> Self:
        """Return the result of a run that has just ended."""
        return result.extended(
            cls,
            threshold=options.threshold,
            linkage=options.linkage,
            fast=options.fast,
            representative=options.representative,
            at=datetime.now(UTC).replace(microsecond=0),
        )

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Make it from the values that `to_dict` returns; `largest_clusters` may be missing."""
        values = {
            **written,
            "sizes": _by_size(written["sizes"]),
            "identical_sizes": _by_size(written["identical_sizes"]),
            "candidates": Candidates(**written["candidates"]),
            "largest_clusters": [LargestCluster(**each) for each in written.get("largest_clusters", ())],
            "at": datetime.fromisoformat(written["at"]),
        }
        return cls(**{each.name: values[each.name] for each in fields(cls)})


def _by_size(counts: Mapping[str, int]) -> dict[int, int]:
    return {int(size): clusters for size, clusters in counts.items()}
