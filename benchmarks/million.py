"""Questions to stores of up to a million generated pages, in a file and on OpenSearch, and how their time grows.

It takes an hour and 40 GB the first time. The stores stay in build/million, so that a second run only asks.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import log
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import NamedTuple

import psutil
from opensearchpy import OpenSearch

from benchmarks.generated_pages import generated_pages, text, url
from benchmarks.store import clocked
from benchmarks.table import Run, Table
from opensearch_winnow.index import Index
from opensearch_winnow.queries.searching.results import FacetName
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up

FOLDER = Path("build", "million")
SIZES = (10_000, 100_000, 1_000_000)
SHARDS = 3  # of the store that is compared with one shard
QUESTIONS = 300
WARM_UP = 30  # questions of each kind that are not measured
CHUNK = 10_000  # pages that are generated, then added
HEAP = "4g"
FACETS: tuple[FacetName, ...] = ("site", "month")


class Load(NamedTuple):
    """What it took to add some pages."""

    pages: int
    seconds: float
    here: float  # CPU seconds of this process
    engine: float  # of the engine


class Answers(NamedTuple):
    """Answers of a store: the seconds of each question, by kind."""

    pages: int
    seconds: dict[str, list[float]]


def tables(run: Run) -> Iterator[Table]:
    folder = FOLDER if run.scale == 1 else FOLDER.with_name(f"million-{run.scale:g}")
    sizes = [run.size(size, least=20 * (number + 1)) for number, size in enumerate(SIZES)]
    count = run.size(QUESTIONS, least=5)
    files = [_in_a_file(folder, size) for size in sizes]
    yield growth_table("In a file", [_answers(store, size, count) for store, size in zip(files, sizes, strict=True)])
    engine = LocalEngine(folder / "engine")
    running = engine.start(heap=HEAP, port=free_port(), owner=os.getpid())
    try:
        (node,) = running.nodes
        process = psutil.Process(node.pid)
        stores = [_on_opensearch(running.url, process, folder, size) for size in sizes]
        yield growth_table(
            "On OpenSearch, one shard",
            [_answers(store, size, count) for store, size in zip(stores, sizes, strict=True)],
        )
        wide = _on_opensearch(running.url, process, folder, sizes[1], shards=SHARDS)
        yield shards_table(*(_answers(store, sizes[1], count) for store in (stores[1], wide)))
        yield load_table(folder, [*files, *stores, wide])
        yield size_table([*files, *stores, wide])
    finally:
        engine.stop()


def _in_a_file(folder: Path, size: int) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / f"pages-{size}.winnow"
    _fill(str(store), folder, size)
    return str(store)


def _on_opensearch(address: str, engine: psutil.Process, folder: Path, size: int, *, shards: int = 1) -> str:
    name = f"pages-{size}" + (f"-{shards}-shards" if shards > 1 else "")
    with OpenSearch(address, timeout=3_600) as client:
        set_up(client, name, shards=shards)
        if _fill(f"{address}/{name}", folder, size, engine):
            client.indices.forcemerge(index=name, max_num_segments=1)
    return f"{address}/{name}"


def _fill(store: str, folder: Path, size: int, engine: psutil.Process | None = None) -> bool:
    """Add the pages that the store does not have yet; return whether some were added."""
    log_file = _log(folder, store)
    with Index.open(store, patient=True) as index:
        index.add([], failed=folder / "failed.jsonl")  # creates the store
        start = index.store.count()
        pages = generated_pages(start, size)
        while some := list(islice(pages, CHUNK)):
            before = time.perf_counter(), time.process_time(), _cpu(engine)
            index.add(some, failed=folder / "failed.jsonl")
            after = time.perf_counter(), time.process_time(), _cpu(engine)
            took = Load(len(some), *(late - early for early, late in zip(before, after, strict=True)))
            with log_file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(took) + "\n")
        return start < size


def _log(folder: Path, store: str) -> Path:
    return folder / f"{Path(store).name}.log"


def _cpu(process: psutil.Process | None) -> float:
    return sum(process.cpu_times()[:2]) if process else 0.0


def _answers(store: str, size: int, count: int) -> Answers:
    random = Random(size)
    numbers = [random.randrange(size) for _ in range(count + WARM_UP)]
    texts = [text(number) for number in numbers]
    words = [" ".join(random.sample(each.split(), 2)) for each in texts]
    urls = [url(number) for number in numbers]
    with Index.open(store, create=False) as index:
        kinds: dict[str, tuple[Callable[[str], object], Sequence[str]]] = {
            "similar(url=…), near-duplicates": (lambda each: index.similar(url=each), urls),
            "similar(text=…), half of it": (lambda each: index.similar(text=each), texts),
            "similar(text=…, min_containment=0), any passage": (
                lambda each: index.similar(text=each, min_containment=0),
                texts,
            ),
            "search, two words of a page": (index.search, words),
            "the same, grouped": (lambda each: index.search(each, group=True), words),
            "the same, with facets": (lambda each: index.search(each, facets=FACETS), words),
        }
        seconds = {name: clocked(ask, about)[WARM_UP:] for name, (ask, about) in kinds.items()}
        return Answers(index.store.count(), seconds)


def percentiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    cuts = quantiles(seconds, n=100, method="inclusive")
    return cuts[49], cuts[94], cuts[98]


def cells(answers: Answers, name: str) -> str:
    return " / ".join(f"{each * 1e3:.1f}" for each in percentiles(answers.seconds[name]))


def growth_table(title: str, grown: Sequence[Answers]) -> Table:
    first, last = grown[0], grown[-1]
    rows = []
    for name in first.seconds:
        (early, *_), (late, *_, slowest) = percentiles(first.seconds[name]), percentiles(last.seconds[name])
        exponent = log(late / early) / log(last.pages / first.pages)
        rows.append((name, *(cells(each, name) for each in grown), f"{exponent:.2f}", f"{slowest / late:.0f} ×"))
    return Table(
        f"{title}: milliseconds, p50 / p95 / p99",
        ("", *(f"{each.pages:,} pages" for each in grown), "exponent of growth", "p99 / p50"),
        rows,
        f"{len(next(iter(last.seconds.values())))} questions of each kind, one after the other. The exponent is that of"
        " p50 from the smallest to the largest store: 0 if the time stays, 1 if it grows like the store. One page in"
        " ten is a near-duplicate of another, and one in three quotes a passage; the most popular is on 3.4 % of all"
        " pages. Aim: p99 at most 10 × p50.",
    )


def shards_table(one: Answers, three: Answers) -> Table:
    rows = [
        (
            name,
            cells(one, name),
            cells(three, name),
            f"{percentiles(three.seconds[name])[0] / percentiles(one.seconds[name])[0]:.2f} ×",
        )
        for name in one.seconds
    ]
    return Table(
        f"{one.pages:,} pages on OpenSearch: milliseconds, p50 / p95 / p99",
        ("", "1 shard", f"{SHARDS} shards", "p50"),
        rows,
        "On one node with two cores. Each shard is one segment.",
    )


def load_table(folder: Path, stores: Sequence[str]) -> Table:
    rows = []
    for store in stores:
        loads = [Load(*json.loads(line)) for line in _log(folder, store).read_text(encoding="utf-8").splitlines()]
        tenth = max(len(loads) // 10, 1)
        for part, some in {"first": loads[:tenth], "last": loads[-tenth:]}.items():
            pages, seconds, here, cpu = (sum(column) for column in zip(*some, strict=True))
            rows.append(
                (
                    Path(store).name,
                    part,
                    f"{pages / seconds:,.0f}",
                    f"{here / pages * 1e3:.2f}",
                    f"{cpu / pages * 1e3:.2f}",
                )
            )
    return Table(
        "Adding pages: the first tenth, and the last",
        ("store", "tenth", "pages a second", "CPU ms a page, here", "of the engine"),
        rows,
        "One process makes the records and writes them, so both are counted.",
    )


def size_table(stores: Sequence[str]) -> Table:
    rows = []
    for store in stores:
        with Index.open(store, create=False) as index:
            statistics = index.statistics()
            rows.append((Path(store).name, f"{sum(statistics.sizes.values()) / statistics.pages:,.0f}"))
    return Table("Bytes of a page", ("store", "bytes"), rows, "About 6.6 kB of text each.")
