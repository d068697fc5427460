"""Where pages went from one release of a manual to the next: what `winnow locate` puts first, beside brute force."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from math import ceil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.engine import local_engine
from benchmarks.table import Run, Table
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.index import Index
from tests.quality.releases import MANUALS, Moves, add_crawls, moves, outcomes, without_release

WAYS = {"the release is in the URL": lambda url: url, "one URL for all releases": without_release}
MAX_QUESTIONS = {"file": 10_000, "OpenSearch": 150}  # lost pages to locate: on a file, all
QUESTIONS_TIMED = 100


def tables(run: Run) -> Iterator[Table]:
    rows: list[tuple[str, ...]] = []
    with (
        TemporaryDirectory(prefix="winnow-bench-") as folder,
        unpacked_data() as unpacked,
        local_engine(heap="2g") as engine,
    ):
        for manual in (each for each in MANUALS if not each.public):
            pages = list(manual.pages(unpacked))
            for way, address in WAYS.items():
                start = time.process_time()
                known = moves(pages, address)
                seconds = time.process_time() - start
                name = f"{manual.name}-{len(rows)}"
                stores = {"file": str(Path(folder, f"{name}.winnow")), "OpenSearch": f"{engine.url}/{name}"}
                rows += [
                    (f"{manual.name}, {way}", *row, f"{seconds:.0f}")
                    for row in located(known, stores, every=max(1, round(1 / run.scale)))
                ]
    yield Table(
        "Lost pages of two manuals",
        (
            "",
            "store",
            "pages",
            "lost pages sought",
            "moved",
            "recall@1",
            "gone",
            "not found",
            "ms p50",
            "brute force s",
        ),
        rows,
        "Each release is a crawl with a date. A page is lost if its URL is not in the last crawl. It has moved if a"
        " later page resembles it by .5 or more, by brute force over all shingles of all pairs. Recall@1 is the share"
        " of these pages for which the page listed first is the one that resembles it most, or one of several. The"
        " others are gone, and rightly not found. Aim: recall@1 of .97, the same from both stores.",
    )


def located(known: Moves, stores: dict[str, str], every: int) -> Iterator[tuple[str, ...]]:
    with ExitStack() as stack:
        for store, name in stores.items():
            index = stack.enter_context(Index.open(name))
            add_crawls(index, known.pages)
            urls = sorted(known.best)
            urls = urls[:: max(every, ceil(len(urls) / MAX_QUESTIONS[store]))]
            found = outcomes(index, {url: known.best[url] for url in urls})
            timed = urls[:: max(len(urls) // QUESTIONS_TIMED, 1)]
            counts = found.moved, f"{found.recall:.4f}" if found.moved else "–", found.gone, found.not_found
            milliseconds = median(index.locate(url).seconds for url in timed) * 1e3
            yield store, f"{len(known.pages):,}", f"{len(urls):,}", *map(str, counts), f"{milliseconds:.1f}"
