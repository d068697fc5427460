"""What is asked of a clustering, and what can be wrong with that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from opensearch_winnow.foundation.errors import WinnowError

Linkage = Literal["representatives", "components"]
LINKAGES: tuple[Linkage, ...] = ("representatives", "components")
# Pages before it that a page is compared with because of one token, if there are more that have it. With 32 of them a
# thousandth fewer of a million generated pages are in clusters (docs/decisions/0011-clusters.md).
COMPARED = 100

# What is going on; how much of it is done, and how much there is, if that is known.
Progress = Callable[[str, int, int | None], None]


class ClusterError(WinnowError):
    """A clustering that cannot be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """Every choice that decides which clusters there are; the engine does not.

    Pages are in an order: by time (unknown last), then the shortest URL, then by URL. Those with the same shingles are
    one content, that of the first of them. With the linkage `representatives` a page joins the first page that it
    resembles and that is a representative, and is one itself if there is none: every member resembles its
    representative. With `components` pages that hang together are one cluster, however long the chain between them,
    as Broder and others had it; the first is the representative.
    """

    threshold: float = 0.5
    linkage: Linkage = "representatives"
    fast: bool = False  # candidates share a band (a super shingle); else a band or a shingle of their sketches
    compared: int = COMPARED

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ClusterError(f"a threshold is above 0 and at most 1, not {self.threshold:g}")
        if self.linkage not in LINKAGES:
            raise ClusterError(f"no linkage {self.linkage!r}; there are {' and '.join(LINKAGES)}")
        if not 2 <= self.compared <= 1_000_000:
            raise ClusterError(f"a page is compared with 2 to 1,000,000 others by a token, not {self.compared:,}")
