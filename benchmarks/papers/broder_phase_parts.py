"""The parts about the phases of clustering: their time, and the files between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmarks.papers.broder_clusters import (
    ELIMINATION,
    FORMATION,
    MAX_DOCUMENTS,
    MERGING,
    PAIRS,
    SHINGLES,
    SKETCHING,
    TEXTS,
    WHOLE_CRAWL,
    WRITING,
    Clustering,
    PaperClusters,
)
from benchmarks.papers.part import Check, Part
from benchmarks.table import Table
from opensearch_winnow.mappings.record import Record

WHOLE_BYTES = 150_000_000_000  # of the paper's pages
PAPER_DAYS = {SKETCHING: 4.6, ELIMINATION: 0.3, SHINGLES: 1.7, PAIRS: 0.7, MERGING: 2.6, FORMATION: 0.5}
PAPER_TOTAL = 10.5
PARALLEL = (SKETCHING, SHINGLES, MERGING)


def phases(clustering: Clustering, size: int, generated: Clustering | None) -> Part:
    """Compare the phases with the paper's; `size` is in bytes, `generated` a larger crawl of generated pages."""
    cpu, count = clustering.phases.cpu, clustering.result.pages
    measured = [each for each in (clustering, generated) if each]
    rows = []
    for phase in (*PAPER_DAYS, TEXTS, WRITING):
        days = PAPER_DAYS.get(phase)
        parallel = "yes" if phase in PARALLEL else "no"
        paper = (f"{days:.1f} ({days / PAPER_TOTAL * 100:.0f} %)", parallel) if days else ("–", "–")
        rows.append((phase, *paper, *(cell for each in measured for cell in cells(each, each.phases.cpu[phase]))))
    totals = (cell for each in measured for cell in cells(each, sum(each.phases.cpu.values())))
    rows.append(("Total", "about 10.5", "", *totals))
    columns = [
        column
        for each in measured
        for column in (
            f"CPU s, {each.result.pages:,} {'real' if each is clustering else 'generated'} pages",
            "µs a page",
            "CPU-hours for 30 million",
        )
    ]
    paper_speed = WHOLE_BYTES / (PAPER_DAYS[SKETCHING] * 86_400)
    by_bytes = cpu[SKETCHING] / size * WHOLE_BYTES / 3600
    return Part(
        "The phases and their time",
        "These are the phases of `winnow cluster --linkage components` on pages as HTML, in one thread and a process"
        f" of its own, with {clustering.taken.memory / 1e6:,.0f} MB of memory at the peak. Sketching reads the HTML"
        " and makes shingles, sketch, MinHash and bands. Shingle merging sorts the shingles of sketches, and bands,"
        " with the pages that have them. ID–ID merging removes repeated pairs and estimates each from two MinHashes,"
        " where the paper adds counts. Pairs near the threshold are then decided by their texts, which the paper did"
        " not do. Generated pages are texts, so their sketching reads no HTML.\n\n"
        f"Hours are the CPU time × {WHOLE_CRAWL / 1e6:.0f} million / pages, linear in the pages. That is right for"
        " sketching, which looks at one page at a time. For the other phases it is too much where their start counts,"
        " and too little since the pairs of a crawl grow faster than its pages:"
        " [the benchmark of clusters](../../benchmarks/README.md#clusters) measures that growth up to a million"
        " generated pages.\n\n"
        f"The pages are larger than the paper's, {size / count / 1e3:.0f} kB instead of 5: by bytes instead of pages,"
        f" sketching takes {by_bytes:.1f} hours for the paper's 150 GB, or {size / cpu[SKETCHING] / 1e6:.0f} MB a"
        f" second (the paper: {paper_speed / 1e6:.1f}). The paper's machines were those of 1996, and merged on disks;"
        " so the ratio says what this costs today, and nothing about the two programs. For the same reason the paper's"
        " “few seconds” for resemblance on the fly, among 30 million pages on disks, cannot be compared with a store of"
        " a few thousand pages; [scale](../scale.md) says how lookups grow.",
        Table(
            f"CPU time; the real pages have {size / 1e6:,.0f} MB of HTML",
            ("phase", "paper, CPU-days", "parallelizable", *columns),
            rows,
            f"The paper's {PAPER_TOTAL} CPU-days are {PAPER_TOTAL * 86_400 / WHOLE_CRAWL * 1e3:.0f} ms a page; the sum"
            " of its phases is 10.4. Times are from one run, and are not checked.",
        ),
    )


def cells(clustering: Clustering, seconds: float) -> tuple[str, str, str]:
    each = seconds / clustering.result.pages
    return f"{seconds:.3f}", f"{each * 1e6:,.0f}", f"{each * WHOLE_CRAWL / 3600:.2f}"


def files(clustering: Clustering, by_paper: PaperClusters, records: Sequence[Record], size: int) -> Part:
    count = len(records)
    urls = sum(len(record.url.encode()) for record in records)
    found, parts = clustering.result, clustering.phases
    clustered = sum(pages for pages in Counter(by_paper.clusters.values()).values() if pages > 1)

    def row(name: str, paper: float, entry: str, ours: float, software: float | None) -> tuple[str, ...]:
        return (
            name,
            f"{paper / 1e9:g} GB" if paper >= 1e9 else "below 0.1 GB",
            f"{paper / WHOLE_CRAWL:,.0f}",
            entry,
            f"{ours / count:,.0f}",
            f"{software / count:,.0f}" if software is not None else "–",
        )

    sketch = sum(len(record.hashes.sketch) for record in records)
    rows = [
        row("documents", 150e9, "", size, size),
        row("URLs", 1.8e9, "", urls, urls),
        row("sketches", 3e9, "5 a shingle", 5 * by_paper.shingles, 8 * sketch),
        row("(shingle, ID)", 5.5e9, "9 an entry", 9 * by_paper.postings, parts.postings),
        row("(ID, ID, 1), at most", 20e9, "12 an entry", 12 * by_paper.triplets, parts.pairs),
        row("(ID, ID, count)", 6e9, "12 an entry", 12 * by_paper.merged, 8 * found.candidates.compared),
        row("clusters", 0.1e9, "4 a page", 4 * clustered, parts.table),
    ]
    return Part(
        "The files between the phases",
        "“Its algorithm, here” runs the paper's algorithm to the letter on these pages: copies out, MOD_25"
        f" sketches, shingles on more than {MAX_DOCUMENTS:,} pages ignored, all pairs of the others. The paper names"
        " the bytes of shingles and of (shingle, ID); for triplets three numbers of 4 bytes are assumed. Its 20 GB are"
        " the peak while files are merged, so not all (ID, ID, 1) at once.\n\n"
        "The last column has the files of this software. Its postings include 32 bands a page, and its pairs have no"
        " counts. The table of clusters has URLs and resemblances. Pages here share far more with each other than pages"
        " of the Web, so there are more pairs.",
        Table(
            "Bytes a page",
            ("", "paper", "paper, a page", "bytes", "its algorithm, here", "this software"),
            rows,
            f"Sketches have {600e6 / WHOLE_CRAWL:.0f} shingles a page in the paper, and"
            f" {by_paper.shingles / count:.1f} here.",
        ),
        checks=(Check("shingles of sketches that differ from the records'", abs(by_paper.shingles - sketch), 0, 0),),
    )
