"""Wall-clock time of a search in the browser, compared with the same one without a server, and of fifty visitors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode, urlsplit

from benchmarks.corpus import two_words
from benchmarks.generated_pages import generated_pages
from benchmarks.table import Run, Table
from benchmarks.timing import percentiles
from benchmarks.unpacked_data import page_of, real_records
from benchmarks.web_visitors import VISITORS, visitors_table
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
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
    real = map(page_of, real_records(run.scale))
    yield from store_tables(run, "Manuals and licences", real, visited=True)
    yield from store_tables(run, "Generated pages", generated_pages(0, run.size(GENERATED, least=100)), visited=False)


def store_tables(run: Run, what: str, pages: Iterable[Page], *, visited: bool) -> Iterator[Table]:
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        store = Path(folder, "pages.winnow")
        with Index.open(store) as index:
            index.add(pages)
            index.cluster()
            records = zip(index.store.scan(Record), range(1_000), strict=False)
            titles = [record.title or record.text for record, _ in records]
        words_typed = two_words(titles, run.size(QUESTIONS, least=5) + WARM_UP)
        with serving(store) as served:
            yield search_table(what, store, served.address, words_typed)
            if visited:
                seconds = run.size(VISIT_SECONDS, least=1)
                title = f"{VISITORS} visitors of them at once for {seconds} s"
                yield visitors_table(title, served.address, words_typed, seconds)


def search_table(what: str, store: Path, address: str, words_typed: list[str]) -> Table:
    """Measure each way with each query. The ways take turns, and each goes first equally often."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=300)
    sizes: dict[str, list[int]] = {PAGE: [], JSON: []}

    def get(way: str, ending: str, words: str) -> None:
        connection.request("GET", f"/search{ending}?{urlencode({'words': words})}")
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200, body
        sizes[way].append(len(body))

    with Index.open(store, create=False) as index:
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
    shown = {way: percentiles(every[WARM_UP:]) for way, every in seconds.items()}
    rows = [
        (
            way,
            f"{middle:.1f}",
            f"{late:.1f}",
            f"{late / shown[DIRECT][1]:.2f} ×",
            f"{sum(sizes[way]) / len(sizes[way]) / 1e3:.1f}" if way in sizes else "",
        )
        for way, (middle, late) in shown.items()
    ]
    return Table(f"{what}, {count:,} of them: milliseconds", ("", "p50", "p95", "of p95 alone", "kB"), rows, AIM)
