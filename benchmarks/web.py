"""Wall-clock time of the search page, compared with the same search without a server, and fifty visitors at once."""

from __future__ import annotations

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
from benchmarks.web_visitors import VISITORS, visitors_table
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.web.screens.search import EXAMINED
from tests.web.served_fixture import serving

GENERATED = 100_000
QUESTIONS = 300
WARM = 10  # questions that are not counted
SECONDS = 60  # of the visitors
AIM = "Aim: p95 of the page at most 1.5 × that of the search alone."

DIRECT, PAGE, JSON = "index.search, in the same way", "the page, over HTTP", "its JSON, over HTTP"
WAYS = (DIRECT, PAGE, JSON)


def tables(run: Run) -> Iterator[Table]:
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        for number, (what, pages) in enumerate(corpora(run)):
            path = Path(folder, f"{number}.winnow")
            with Index.open(path) as index:
                index.add(pages)
                titles = [
                    record.title or record.text
                    for record, _ in zip(index.store.scan(Record), range(1_000), strict=False)
                ]
                index.cluster()
            asked = queries(titles, run.size(QUESTIONS, least=5) + WARM)
            with serving(path) as served:
                yield search_table(what, path, served.address, asked)
                if number == 0:
                    seconds = run.size(SECONDS, least=1)
                    yield visitors_table(f"{VISITORS} visitors of them at once for {seconds} s", served, asked, seconds)


def corpora(run: Run) -> Iterator[tuple[str, Iterable[Page]]]:
    corpus = real_records()[:: max(1, min(500, round(1 / run.scale)))]
    yield "Manuals and licences", [Page(each.url, text=each.text, title=each.title) for each in corpus]
    yield "Generated pages", generated_pages(0, run.size(GENERATED, least=100))


def queries(texts: list[str], count: int) -> list[str]:
    """Two words that follow each other on a page."""
    source = Random(7)
    asked: list[str] = []
    while len(asked) < count:
        words = [word for word in source.choice(texts).split() if word.isalpha()]
        if words:
            start = source.randrange(max(len(words) - 1, 1))
            asked.append(" ".join(words[start : start + 2]))
    return asked


def search_table(what: str, path: Path, address: str, asked: list[str]) -> Table:
    """Each way takes its turn with each question, and begins as often as the others."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=300)
    sizes: dict[str, list[int]] = {PAGE: [], JSON: []}

    def get(way: str, ending: str, words: str) -> None:
        connection.request("GET", f"/search{ending}?{urlencode({'q': words})}")
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200, body
        sizes[way].append(len(body))

    with Index.open(path, create=False) as index:
        ways: dict[str, Callable[[str], object]] = {
            DIRECT: lambda words: index.search(words, group=True, examine=EXAMINED, facets=("site", "month")),
            PAGE: lambda words: get(PAGE, "", words),
            JSON: lambda words: get(JSON, ".json", words),
        }
        seconds: dict[str, list[float]] = {way: [] for way in WAYS}
        for turn, words in enumerate(asked):
            for number in range(len(WAYS)):
                way = WAYS[(turn + number) % len(WAYS)]
                start = time.perf_counter()
                ways[way](words)
                seconds[way].append(time.perf_counter() - start)
        count = index.store.count()
    connection.close()
    shown = {way: _percentiles(every[WARM:]) for way, every in seconds.items()}
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
