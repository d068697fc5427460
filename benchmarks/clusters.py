"""Clusters of a whole crawl: how the cost grows, and peers starting from text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import linear_regression
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyarrow.parquet as pq

from benchmarks.clusters_vs_peers import peers_table
from benchmarks.generated_crawl import generated_crawl
from benchmarks.own_process import PROCESSES, Taken, in_own_process
from benchmarks.table import Run, Table, times
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.record_writer import RecordFileWriter

SIZES = (100_000, 300_000, 1_000_000)
PAGES_PER_FILE = 50_000  # of records
GROWN = 1.05  # size of the grown crawl relative to the crawl of the state
MEMORY = "2GB"
WHOLE_CRAWL = 30_000_000  # pages that Broder et al. clustered


class Clustered(NamedTuple):
    found: ClusteringResult
    taken: Taken


class Growth(NamedTuple):
    """CPU seconds as a power of the number of pages."""

    pages: int  # of the largest measurement
    cpu: float  # seconds for these pages
    exponent: float

    @classmethod
    def of(cls, measured: Sequence[Clustered]) -> Growth:
        pages, cpu = zip(*((each.found.pages, each.taken.cpu) for each in measured), strict=True)
        slope = linear_regression(list(map(log, pages)), list(map(log, cpu))).slope
        return cls(pages[-1], cpu[-1], slope)

    def hours(self, pages: int) -> float:
        """Extrapolate the CPU-hours for `pages`. The exponent is at least 1: a fixed start-up time hides growth."""
        return self.cpu * float((pages / self.pages) ** max(self.exponent, 1)) / 3600


def tables(run: Run) -> Iterator[Table]:
    yield from growth_tables(run)
    yield peers_table(run)


def growth_tables(run: Run) -> Iterator[Table]:
    sizes = [run.size(size, least=100 * (number + 1)) for number, size in enumerate(SIZES)]
    before = int(sizes[-1] / GROWN)
    with TemporaryDirectory(prefix="winnow-bench-") as name:
        folder = Path(name)
        parts = make_records(folder / "records", sorted({0, *range(0, sizes[-1], PAGES_PER_FILE), *sizes, before}))
        default, fast = [], []
        for size in sizes:
            records = [path for path, end in parts.items() if end <= size]
            default.append(clustered(folder, records, ClusteringOptions(), output=str(folder / f"{size}.parquet")))
            fast.append(
                clustered(folder, records, ClusteringOptions(fast=True), output=str(folder / f"{size}-fast.parquet"))
            )
        yield growth_table(default, fast)
        old = [path for path, end in parts.items() if end <= before]
        state = str(folder / "state")
        first = clustered(folder, old, ClusteringOptions(), state=state, output=str(folder / "old.parquet"))
        grown = clustered(folder, list(parts), ClusteringOptions(), state=state, output=str(folder / "grown.parquet"))
        assert clusters_of(folder / "grown.parquet") == clusters_of(folder / f"{sizes[-1]}.parquet")
        yield state_table(first, grown, default[-1])


def make_records(folder: Path, bounds: Sequence[int]) -> dict[str, int]:
    """Write record files on all cores, and return their paths with the number of pages up to the end of each."""
    folder.mkdir()
    spans = list(pairwise(bounds))
    paths = [str(folder / f"part-{number:05}.parquet") for number in range(len(spans))]
    with ProcessPoolExecutor(mp_context=PROCESSES) as pool:
        list(pool.map(write_part, paths, *zip(*spans, strict=True)))
    return {path: end for path, (_, end) in zip(paths, spans, strict=True)}


def write_part(path: str, start: int, end: int) -> None:
    recipe = Recipe()
    maker = RecordMaker(recipe)
    with RecordFileWriter(path, recipe.scheme) as writer:
        for page in generated_crawl(start, end):
            record = maker.make(page)
            assert isinstance(record, Record)
            writer.add(record)


def clustered(
    folder: Path, records: Sequence[str], options: ClusteringOptions, *, output: str, state: str | None = None
) -> Clustered:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return Clustered(*in_own_process(clustering, records, options, output, state, str(work), folder=work))


def clustering(
    records: Sequence[str], options: ClusteringOptions, output: str, state: str | None, work: str
) -> Callable[[], ClusteringResult]:
    return partial(cluster_records, records, options, RunSettings(output=output, state=state, work=work, memory=MEMORY))


def clusters_of(path: Path) -> list[tuple[str, str]]:
    table = pq.read_table(path, columns=["capture", "cluster"]).sort_by("capture")
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def growth_table(default: Sequence[Clustered], fast: Sequence[Clustered]) -> Table:
    growth, fast_growth = Growth.of(default), Growth.of(fast)
    rows = []
    for each, quick in zip(default, fast, strict=True):
        edges = each.found.candidates.edges
        assert quick.found.expected_recall is not None
        recall = f"{quick.found.candidates.edges / edges if edges else 1:.4f} / {quick.found.expected_recall:.4f}"
        rows += [row(f"{each.found.pages:,}", each, ""), row(f"{quick.found.pages:,}, fast", quick, recall)]
    return Table(
        "Clusters of generated records, and what they take",
        (
            "pages",
            "s",
            "CPU s",
            "pages/s",
            "CPU µs a page",
            "peak memory, MB",
            "peak disk, MB",
            "clusters",
            "pages in them",
            "recall of edges / expected",
        ),
        rows,
        f"Within {MEMORY}, from record files of {PAGES_PER_FILE:,} pages, each run in a process of its own. CPU time"
        f" grows as the pages to the power of {growth.exponent:.2f} (fast: {fast_growth.exponent:.2f}), since families"
        f" grow with the crawl. At that rate, and at least in proportion to the pages, {WHOLE_CRAWL:,} pages would take"
        f" {growth.hours(WHOLE_CRAWL):.1f} CPU-hours (fast: {fast_growth.hours(WHOLE_CRAWL):.1f}). Broder and others"
        " took 10.5 CPU-days for 30 million pages, in 1997. Fast finds a part of the default's edges: the table shows"
        " how many, and how many it expects to find.",
    )


def row(name: str, each: Clustered, recall: str) -> tuple[str, ...]:
    found, taken = each
    return (
        name,
        f"{taken.seconds:,.1f}",
        f"{taken.cpu:,.1f}",
        f"{found.pages / taken.seconds:,.0f}",
        f"{taken.cpu / found.pages * 1e6:,.0f}",
        f"{taken.memory / 1e6:,.0f}",
        f"{taken.disk / 1e6:,.0f}",
        f"{found.clusters:,}",
        f"{found.clustered_pages:,}",
        recall,
    )


def state_table(first: Clustered, grown: Clustered, whole: Clustered) -> Table:
    rows = [
        (
            name,
            f"{each.taken.seconds:,.1f}",
            f"{each.taken.cpu:,.1f}",
            times(each.taken.cpu / whole.taken.cpu),
            f"{each.taken.memory / 1e6:,.0f}",
            f"{each.found.candidates.compared:,}",
        )
        for name, each in {
            f"{whole.found.pages:,} pages, all at once": whole,
            f"{first.found.pages:,} pages, and a state is kept": first,
            f"{grown.found.pages:,} pages, from that state": grown,
        }.items()
    ]
    return Table(
        f"A crawl that has grown by {GROWN - 1:.0%}",
        ("", "s", "CPU s", "beside all at once", "peak memory, MB", "pairs compared"),
        rows,
        "The clusters are the same as in one run over all pages, page by page.",
    )
