"""What a clustering has found, in numbers. The tables are in schemas.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

# The bars of the histogram: of resemblances from 0 to .02, and so on; the last has 1 in it.
BARS = 50
COUNTED = ("clusters", "clustered_pages", "identical_clusters", "identical_pages")


class Largest(NamedTuple):
    """One of the largest clusters."""

    pages: int
    cluster: str
    url: str  # of the representative
    title: str | None


@dataclass(slots=True, kw_only=True)
class Candidates:
    """How pairs were found, and what was not looked at."""

    compared: int = 0  # pairs of pages
    exact: int = 0  # of them, decided by their texts
    edges: int = 0  # of them, at or above the threshold
    common: int = 0  # tokens that are on so many pages that not all pairs of them were compared
    longest: int = 0  # pages that the most common token is on
    left_out: int = 0  # pairs of pages that one such token has and that it did not propose; others may have
    # How many of the compared pairs have which resemblance: BARS bars.
    histogram: list[int] = field(default_factory=lambda: [0] * BARS)


@dataclass(slots=True, kw_only=True)
class Found:
    """A clustering in numbers. A cluster has two pages or more."""

    engine: str
    scheme: str
    pages: int
    contents: int  # different sets of shingles
    sizes: dict[int, int]  # how many clusters have so many pages
    identical_sizes: dict[int, int]  # of them, those whose pages all have the same shingles
    largest: list[Largest]  # the largest first; of one size by id
    edges: int  # with those between equal pages: the rows of the evidence
    candidates: Candidates
    expected_recall: float | None = None  # of edges, by bands alone; None if sketches were looked at too
    changed: int | None = None  # pages of the store that got another cluster
    fresh: int | None = None  # contents that were not in the state; None without one
    seconds: float = 0.0

    @property
    def clusters(self) -> int:
        """How many there are."""
        return sum(self.sizes.values())

    @property
    def clustered_pages(self) -> int:
        """How many pages are in a cluster."""
        return sum(pages * clusters for pages, clusters in self.sizes.items())

    @property
    def identical_clusters(self) -> int:
        """Those whose pages all have the same shingles."""
        return sum(self.identical_sizes.values())

    @property
    def identical_pages(self) -> int:
        """How many pages are in one of those."""
        return sum(pages * clusters for pages, clusters in self.identical_sizes.items())

    def as_document(self) -> dict[str, Any]:
        """As JSON values."""
        document = asdict(self) | {name: getattr(self, name) for name in COUNTED}
        document["largest"] = self.largest[0].pages if self.largest else 0
        document["largest_clusters"] = [each._asdict() for each in self.largest]
        for name in ("sizes", "identical_sizes"):
            document[name] = {str(size): count for size, count in sorted(document[name].items())}
        return document
