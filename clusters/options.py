"""The options of a clustering: what decides the clusters, and what only decides how and where the run works."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict, get_args

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.queries.searching.representative_rule import RepresentativeRule

DEFAULT_MEMORY = "2GB"
MIN_MEMORY = 100_000_000  # with less, DuckDB cannot sort in parts
UNITS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?", re.IGNORECASE)

Linkage = Literal["representatives", "components"]
LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
EngineName = Literal["duckdb", "spark"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
# Earlier pages that a page is compared with because of one shared token. With 32 instead of 100, a million generated
# pages have 0.1 % fewer pages in clusters (docs/decisions/0011-clusters.md).
DEFAULT_COMPARED = 100


class ClusterError(WinnowError):
    """Raised when a clustering cannot be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringOptions:
    """The options that decide the clusters. Both engines find the same clusters for the same options.

    Pages are ordered by time (unknown times last), then by length of the URL, then by URL. Pages with the same set of
    shingles are one content, represented by its first page; if it is a single shingle, the titles have to be the same,
    too, and the page resembles no other. With the linkage `representatives` each page joins the
    earliest representative that it resembles, and becomes a representative if there is none: every member resembles
    its representative. With `components` all pages connected by a chain of resemblances form one cluster, as in Broder
    et al. (1997), and the first page is the representative.

    Another page of the cluster can be chosen as its representative. That does not change which pages are in a cluster,
    but the others need not resemble this one by `threshold`.
    """

    threshold: float = 0.5  # minimum resemblance
    linkage: Linkage = "representatives"
    fast: bool = False  # compare only pages that share a band (a super shingle), not those that share a sketch shingle
    compared: int = DEFAULT_COMPARED  # maximum of earlier pages to compare a page with because of one shared token
    representative: str = "earliest"  # the page that a cluster is named after: see `RepresentativeRule`

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ClusterError(f"the threshold must be above 0 and at most 1, not {self.threshold:g}")
        if self.linkage not in LINKAGES:
            raise ClusterError(f"unknown linkage {self.linkage!r}: choose {' or '.join(LINKAGES)}")
        if not 2 <= self.compared <= 1_000_000:
            raise ClusterError(f"compared must be from 2 to 1,000,000 pages, not {self.compared:,}")
        RepresentativeRule.of(self.representative)

    @property
    def other_representative(self) -> RepresentativeRule | None:
        """The rule that chooses representatives; None if they are those that pages have joined, the earliest."""
        rule = RepresentativeRule.of(self.representative)
        return None if rule.name == "earliest" else rule


class RunKeywords(TypedDict, total=False):
    """The fields of `RunSettings` that `Index.cluster` takes as keyword parameters."""

    engine: EngineName
    output: str | None
    evidence: str | None
    overwrite: bool
    state: str | None
    memory: str | None
    threads: int | None
    work: str | None
    spark: Mapping[str, str]
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The work folder and the outputs of a clustering run. No setting changes the clusters."""

    engine: EngineName = "duckdb"
    output: str | None = None  # Parquet table to write, with a row for each page
    evidence: str | None = None  # Parquet table to write, with a row for each pair of similar pages
    changes: str | None = None  # Parquet table to write, with a row for each page whose record has another cluster
    overwrite: bool = False  # replace existing tables
    state: str | None = None  # folder with the state of the last run, to compare only new contents; DuckDB only
    memory: str | None = None  # such as 512MB, by default 2GB, at least 100MB; DuckDB only
    threads: int | None = None  # by default one for each processor; DuckDB only
    work: str | None = None  # folder for temporary files, by default beside the output
    spark: Mapping[str, str] = field(default_factory=dict)  # Spark settings, such as spark.driver.memory
    # secret key of the scheme, if it has one; by default that in the file that WINNOW_KEY_FILE names
    key: str | None = field(default=None, repr=False)
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise ClusterError(f"unknown engine {self.engine!r}: choose {' or '.join(ENGINES)}")
        if self.state and self.engine != "duckdb":
            raise ClusterError("a state needs the engine duckdb")
        if self.memory_bytes < MIN_MEMORY:
            raise ClusterError(f"{self.memory} of memory is too little: allow at least {MIN_MEMORY // 1_000_000}MB")

    @property
    def memory_bytes(self) -> int:
        """`memory` as a number of bytes."""
        return parse_size(self.memory or DEFAULT_MEMORY)

    @property
    def thread_count(self) -> int:
        """`threads`, or the number of processors."""
        return self.threads or os.cpu_count() or 1

    def report(self, phase: str, done: int, total: int | None) -> None:
        """Call `progress`, if there is one."""
        if self.progress is not None:
            self.progress(phase, done, total)


def parse_size(text: str) -> int:
    """Return the number of bytes that a text such as 2GB, 512 MB or 1.5GiB means."""
    match = SIZE.fullmatch(text.strip())
    if not match:
        raise ClusterError(f"{text!r} is not a memory size: write megabytes or gigabytes, such as 512MB or 2GB")
    number, unit, binary = match.groups()
    exponent = "KMGT".find(unit.upper()) + 1
    return int(float(number) * (1024**exponent if binary else UNITS[unit.upper()]))
