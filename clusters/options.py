"""The options of a clustering, which decide the clusters, and the settings of a run, which do not."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.option_kinds import FLAG, Kind, named_values, number, one_of, path, share, text
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.queries.searching.representative_rule import CHOICES, RepresentativeRule

DEFAULT_MEMORY = "2GB"
MIN_MEMORY = 100_000_000  # with less, DuckDB cannot sort in parts
UNITS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)

Linkage = Literal["representatives", "components"]
LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
EngineName = Literal["duckdb", "spark"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
# Earlier pages that a page is compared with because of one shared token. With 32 instead of 100, a million generated
# pages have 0.1 % fewer pages in clusters (docs/decisions/0011-clusters.md).
DEFAULT_COMPARED = 100


class ClusterError(WinnowError):
    """Raised when a clustering cannot be done."""


def _memory_bytes(written: str) -> int:
    """Parse a memory size such as 2GB, 512 MB or 1.5GiB, and return its bytes; 0 if it is invalid."""
    match = SIZE.fullmatch(written)
    if match is None:
        return 0
    number, unit, binary = match.groups()
    exponent = "KMGT".find(unit.upper()) + 1
    return int(float(number) * (1024**exponent if binary else UNITS[unit.upper()]))


MEMORY: Kind[str] = Kind(
    what=f"a memory size of at least {MIN_MEMORY // 1_000_000}MB, such as 512MB or 2GB",
    metavar="SIZE",
    parse=str,
    allows=lambda value: _memory_bytes(value) >= MIN_MEMORY,
    schema={"type": "string"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringOptions(Options):
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

    error: ClassVar[type[WinnowError]] = ClusterError

    threshold: float = option(
        0.5, share(above_0=True), "Minimum resemblance of a page to the representative of its cluster."
    )
    linkage: Linkage = option(
        "representatives",
        one_of(*LINKAGES),
        "representatives: pages resemble their representative. components: a chain of resemblances is a cluster.",
        advanced=True,
    )
    # A band is a super shingle. If this is false, pages that share a shingle of their sketches are compared, too.
    fast: bool = option(
        False, FLAG, "Compare only pages that share a band, and estimate how many pairs that misses.", advanced=True
    )
    compared: int = option(
        DEFAULT_COMPARED,
        number(2, 1_000_000),
        "Compare a page with at most N earlier pages for each band or shingle that they share.",
        advanced=True,
    )
    representative: str = option(
        "earliest", text("RULE", 2_000), f"The page to show for each cluster, and to name it after: {CHOICES}."
    )

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        RepresentativeRule.of(self.representative)

    @property
    def other_representative(self) -> RepresentativeRule | None:
        """The rule that chooses representatives; None for the earliest pages, which the others have joined."""
        rule = RepresentativeRule.of(self.representative)
        return None if rule.name == "earliest" else rule


@dataclass(frozen=True, kw_only=True)  # without slots, so that a class can derive from this one and from another
class RunSettings(Options):
    """The work folder and the outputs of a clustering run. No setting changes the clusters."""

    error: ClassVar[type[WinnowError]] = ClusterError

    engine: EngineName = option(
        "duckdb",
        one_of(*ENGINES),
        "Compute with DuckDB or Spark; the clusters are the same. Spark reads and writes any Hadoop file system."
        " --state, --memory and --threads are for DuckDB.",
        advanced=True,
    )
    output: str | None = option(None, path("OUT"), "Write the clusters to this Parquet file, a row for each page.")
    evidence: str | None = option(
        None,
        path("OUT"),
        "Write the similar pairs behind the clusters to this Parquet file, a row for each pair.",
        advanced=True,
    )
    changes: str | None = None  # Parquet table to write, with a row for each page whose record has another cluster
    overwrite: bool = option(False, FLAG, "Replace output files that exist.")
    state: str | None = option(
        None,
        path("FOLDER"),
        "Keep the pairs found in this folder, so that the next run compares only new pages.",
        advanced=True,
    )
    memory: str | None = option(
        None,
        MEMORY,
        "Memory for the comparison, at least 100MB; what does not fit goes to disk. winnow and its libraries take up to"
        " 0.5 GB besides.",
        unset=DEFAULT_MEMORY,
    )
    threads: int | None = option(None, number(1, 1024), "Number of threads.", unset="one for each processor")
    work: str | None = option(
        None, path("FOLDER"), "Folder for temporary files.", unset="beside the output, or the temporary folder"
    )
    spark: Mapping[str, str] | None = option(
        None, named_values("spark.executor.memory=8g"), "A setting for Spark. Can be repeated."
    )
    # secret key of the scheme, if it has one; by default that in the file that WINNOW_KEY_FILE names
    key: str | None = field(default=None, repr=False)
    progress: Progress | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.state and self.engine != "duckdb":
            raise ClusterError("a state needs the engine duckdb")
        if self.spark and self.engine != "spark":
            raise ClusterError("settings of Spark need the engine spark")

    @property
    def memory_bytes(self) -> int:
        """`memory` as a number of bytes."""
        return _memory_bytes(self.memory or DEFAULT_MEMORY)

    @property
    def thread_count(self) -> int:
        """`threads`, or the number of processors."""
        return self.threads or os.cpu_count() or 1

    def report(self, phase: str, done: int, total: int | None) -> None:
        """Call `progress`, if there is one."""
        if self.progress is not None:
            self.progress(phase, done, total)


@dataclass(frozen=True, kw_only=True)
class ClusterRun(RunSettings, ClusteringOptions):
    """A run on a store: the options, the settings, and whether to write the clusters to the store."""

    changes: str | None = field(default=None, init=False)  # these two are set by the store
    key: str | None = field(default=None, init=False, repr=False)
    write_back: bool = option(True, FLAG, "Leave the store unchanged.", flag="--dry-run")
