"""Wall-clock time of the screens, of a search compared with the same one without a server, and of fifty visitors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory
from urllib.parse import urlencode, urlsplit

from benchmarks.generated_pages import generated_pages
from benchmarks.table import Run, Table
from benchmarks.unpacked_data import real_records
from benchmarks.web_screens import screens_table
from benchmarks.web_visitors import VISITORS, visitors_table
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.web.screens.searching.search import HITS_EXAMINED
from tests.web.served_fixture import serving

GENERATED = 100_000
QUESTIONS = 300
WARM_UP = 10  # questions that are not measured
VISIT_SECONDS = 60
AIM = "Aim: p95 of the page at most 1.5 × that of the search alone."

DIRECT, PAGE, JSON = "index.search, in the same way", "the page, over HTTP", "its JSON, over HTTP"
WAYS = (DIRECT, PAGE, JSON)


def tables(run: Run) -> Iterator[Table]:
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        engine = LocalEngine(Path(folder, "engine"))
        running = engine.start(heap="2g", port=free_port(), owner=os.getpid())
        try:
            for number, (what, pages) in enumerate(corpora(run)):
                for store in (Path(folder, f"{number}.winnow"), f"{running.url}/web-{number}"):
                    yield from store_tables(run, what, store, pages, large=number == 1)
        finally:
            engine.stop()


def store_tables(run: Run, what: str, store: Path | str, pages: Iterable[Page], *, large: bool) -> Iterator[Table]:
    in_file = isinstance(store, Path)
    with Index.open(store) as index:
        index.add(pages)
        index.cluster()
        records = zip(index.store.scan(Record), range(1_000), strict=False)
        titles = [record.title or record.text for record, _ in records]
        count = index.store.count()
    words_typed = queries(titles, run.size(QUESTIONS, least=5) + WARM_UP)
    with serving(store) as served:
        where = "in a file" if in_file else "on OpenSearch"
        yield screens_table(f"{what}, {count:,} of them, {where}: screens", served, words_typed, large=large)
        if isinstance(store, Path):
            yield search_table(what, store, served.address, words_typed)
        if not large:
            seconds = run.size(VISIT_SECONDS, least=1)
            title = f"{VISITORS} visitors of them at once for {seconds} s, {where}"
            yield visitors_table(title, served, words_typed, seconds)


def corpora(run: Run) -> Iterator[tuple[str, list[Page]]]:
    corpus = real_records()[:: max(1, min(500, round(1 / run.scale)))]
    yield "Manuals and licences", [Page(each.url, text=each.text, title=each.title) for each in corpus]
    yield "Generated pages", list(generated_pages(0, run.size(GENERATED, least=100)))


def queries(texts: list[str], count: int) -> list[str]:
    """Return queries of two consecutive words of a page."""
    source = Random(7)
    made: list[str] = []
    while len(made) < count:
        words = [word for word in source.choice(texts).split() if word.isalpha()]
        if words:
            start = source.randrange(max(len(words) - 1, 1))
            made.append(" ".join(words[start : start + 2]))
    return made


def search_table(what: str, path: Path, address: str, words_typed: list[str]) -> Table:
    """Measure each way with each query. The ways take turns, and each goes first equally often."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=300)
    sizes: dict[str, list[int]] = {PAGE: [], JSON: []}

    def get(way: str, ending: str, words: str) -> None:
        connection.request("GET", f"/search{ending}?{urlencode({'words': words})}")
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200, body
        sizes[way].append(len(body))

    with Index.open(path, create=False) as index:
        ways: dict[str, Callable[[str], object]] = {
            DIRECT: lambda words: index.search(words, group=True, examine=HITS_EXAMINED, facets=("site", "month")),
            PAGE: lambda words: get(PAGE, "", words),
            JSON: lambda words: get(JSON, ".json", words),
        }
        seconds: dict[str, list[float]] = {way: [] for way in WAYS}
        for turn, words in enumerate(words_typed):
            for number in range(len(WAYS)):
                way = WAYS[(turn + number) % len(WAYS)]
                start = time.perf_counter()
                ways[way](words)
                seconds[way].append(time.perf_counter() - start)
        count = index.store.count()
    connection.close()
    shown = {way: _percentiles(every[WARM_UP:]) for way, every in seconds.items()}
    rows = [
        (
            way,
            f"{middle * 1e3:.1f}",
            f"{late * 1e3:.1f}",
            f"{late / shown[DIRECT][1]:.2f} ×",
            f"{sum(sizes[way]) / len(sizes[way]) / 1e3:.1f}" if way in sizes else "",
        )
        for way, (middle, late) in shown.items()
    ]
    return Table(f"{what}, {count:,} of them: milliseconds", ("", "p50", "p95", "of p95 alone", "kB"), rows, AIM)


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    cuts = quantiles(seconds, n=20, method="inclusive")
    return cuts[9], cuts[18]
