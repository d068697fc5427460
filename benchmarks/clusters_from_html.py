"""The whole way from HTML to clusters, in CPU time of one process: what 30 million pages would take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.clusters_growth import MEMORY, PAPER, WHOLE_CRAWL, Growth
from benchmarks.crawled_pages import crawled_pages, source
from benchmarks.table import Run, Table
from benchmarks.timing import alternate
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.record_writer import RecordWriter

BYTES = 160_000_000
PAPER_PAGE_BYTES = 5_000  # mean size of a page in 1997: 150 GB for 30 million pages
MIN_PAGES, MIN_BYTES = 20, 4_000_000  # to measure, and their total size
MAKE, WRITE, CLUSTER = "HTML → records", "records → record file", "record file → clusters"

Seconds = dict[str, float]


def from_html_table(run: Run, growth: Growth) -> Table:
    pages = crawled_pages(run.size(BYTES, least=MIN_BYTES))
    small = smallest(pages, PAPER_PAGE_BYTES)
    rounds = run.size(3)
    measured = [(some, seconds_of(some, rounds)) for some in (pages, small)]
    rows = []
    totals = [0.0] * len(measured)
    for step in (MAKE, WRITE, CLUSTER):
        cells = []
        for i, (some, seconds) in enumerate(measured):
            by_page = seconds[step] / len(some) * WHOLE_CRAWL / 3600
            hours = growth.hours(WHOLE_CRAWL) if step == CLUSTER else by_page
            totals[i] += hours
            cells += [f"{seconds[step]:.2f}", f"{seconds[step] / len(some) * 1e3:.3f}", f"{hours:.1f}"]
        rows.append((step, *cells))
    together = []
    for total, (some, seconds) in zip(totals, measured, strict=True):
        whole = sum(seconds.values())
        together += [f"{whole:.2f}", f"{whole / len(some) * 1e3:.3f}", f"{total:.1f}"]
    rows.append(("together", *together))
    columns = [
        name
        for some, _ in measured
        for name in (
            f"CPU s, {len(some):,} pages of {mean(some) / 1e3:.1f} kB",
            "CPU ms a page",
            f"hours for {WHOLE_CRAWL / 1e6:.0f} million",
        )
    ]
    return Table(
        "From HTML to clusters",
        ("", *columns),
        rows,
        f"Aim: 10.5 CPU-hours, for pages as the paper had them, of {PAPER_PAGE_BYTES / 1e3:.0f} kB: the right column"
        " has the smallest of the same pages. The hours of clustering follow from the growth above, and not from these"
        " few pages."
        f" {PAPER} {source()}",
    )


def mean(pages: Sequence[bytes]) -> float:
    return sum(map(len, pages)) / len(pages)


def smallest(pages: Sequence[bytes], size: int) -> list[bytes]:
    """Return the largest selection of pages with this mean size, or a few pages."""
    by_size = sorted(pages, key=len)
    means = (total / (i + 1) for i, total in enumerate(accumulate(map(len, by_size))))
    return by_size[: max(sum(each <= size for each in means), MIN_PAGES)]


def seconds_of(pages: Sequence[bytes], rounds: int) -> Seconds:
    """Return the best CPU seconds of each step, including all threads."""
    recipe = Recipe()
    made: list[Record] = []
    with TemporaryDirectory(prefix="winnow-bench-") as name:
        records, clusters = Path(name, "records.parquet"), Path(name, "clusters.parquet")

        def make() -> None:
            maker = RecordMaker(recipe)  # a new one each time, so that no page counts as seen
            results = [maker.make(Page(f"https://example.org/{n}", html=page)) for n, page in enumerate(pages)]
            made[:] = [record for record in results if isinstance(record, Record)]

        def write() -> None:
            records.unlink(missing_ok=True)
            with RecordWriter(records, recipe.scheme) as writer:
                for record in made:
                    writer.add(record)

        def cluster() -> None:
            cluster_records(
                [str(records)],
                ClusteringOptions(),
                RunSettings(output=str(clusters), overwrite=True, memory=MEMORY),
            )

        return alternate({MAKE: make, WRITE: write, CLUSTER: cluster}, rounds)
