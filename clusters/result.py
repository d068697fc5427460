"""The result of a clustering run in numbers. The tables it writes are described in schemas.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from opensearch_winnow.foundation.scheme import Scheme

HISTOGRAM_BARS = 50  # each bar covers 0.02 of resemblance; the last one includes 1
COMPUTED_COUNTS = ("clusters", "clustered_pages", "identical_clusters", "identical_pages")


class LargestCluster(NamedTuple):
    """One of the largest clusters."""

    pages: int
    cluster: str
    url: str  # of the representative
    title: str | None


@dataclass(slots=True, kw_only=True)
class Candidates:
    """Counts of the candidate pairs that were compared and of those that were left out."""

    compared: int = 0  # pairs of pages
    exact: int = 0  # compared pairs that were decided by their texts
    edges: int = 0  # compared pairs at or above the threshold
    common: int = 0  # tokens on too many pages to propose all of their pairs
    longest: int = 0  # pages that have the most common token
    left_out: int = 0  # pairs that common tokens did not propose; other tokens may have proposed them
    # Compared pairs by resemblance, in HISTOGRAM_BARS bars.
    histogram: list[int] = field(default_factory=lambda: [0] * HISTOGRAM_BARS)

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


@dataclass(slots=True, kw_only=True)
class ClusteringResult:
    """The result of a clustering in numbers. A cluster has at least two pages."""

    engine: str
    scheme: str
    pages: int  # captures
    contents: int  # different sets of shingles
    sizes: dict[int, int]  # number of clusters by their number of pages
    identical_sizes: dict[int, int]  # the same for clusters whose pages all have the same shingles
    largest: list[LargestCluster]  # the ten largest, largest first, equal sizes by id
    edges: int  # pairs of similar pages, including identical pages: the rows of the evidence
    candidates: Candidates
    expected_recall: float | None = None  # share of edges that bands alone find; None unless `fast`
    changed: int | None = None  # pages of the store whose cluster changed; None if the store was not updated
    fresh: int | None = None  # contents that the state did not have; None without a state
    seconds: float = 0.0

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return sum(self.sizes.values())

    @property
    def clustered_pages(self) -> int:
        """The number of pages in clusters."""
        return sum(pages * clusters for pages, clusters in self.sizes.items())

    @property
    def identical_clusters(self) -> int:
        """The number of clusters whose pages all have the same shingles."""
        return sum(self.identical_sizes.values())

    @property
    def identical_pages(self) -> int:
        """The number of pages in clusters whose pages all have the same shingles."""
        return sum(pages * clusters for pages, clusters in self.identical_sizes.items())

    def as_document(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        document = asdict(self) | {name: getattr(self, name) for name in COMPUTED_COUNTS}
        document["largest"] = self.largest[0].pages if self.largest else 0
        document["largest_clusters"] = [each._asdict() for each in self.largest]
        for name in ("sizes", "identical_sizes"):
            document[name] = {str(size): count for size, count in sorted(document[name].items())}
        return document
