"""Questions to a store of generated records, by the clock: how long they take, and how that grows with the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory

from benchmarks.generated_pages import generated_pages, text, url
from benchmarks.table import Run, Table
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.destination import StoreDestination
from opensearch_winnow.stores.embedded import EmbeddedStore

SIZES = (10_000, 100_000)
QUESTIONS = 300
SOME = 500  # records, that are made and added in turn
AIM = "Aim: p50 of similar at most 15 ms with 100,000 records, and growth slower than that of the store."

Seconds = dict[str, list[float]]


def tables(run: Run) -> Iterator[Table]:
    yield from growing(run, SIZES)


def growing(run: Run, sizes: Sequence[int]) -> Iterator[Table]:
    """One store that grows from size to size, and is asked at each."""
    steps = [0, *(run.size(size, least=20 * (number + 1)) for number, size in enumerate(sizes))]
    asked: list[Seconds] = []
    costs = []
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        path = Path(folder, "generated.winnow")
        for start, end in pairwise(steps):
            making, writing = fill(path, start, end)
            with Index.open(path, create=False) as index:
                asked.append(ask(index, end, run.size(QUESTIONS, least=5)))
                costs.append((end, end - start, making, writing, index.statistics().sizes))
    yield questions_table(asked, steps[1:])
    yield cost_table(costs)
    yield size_table(costs[-1][4], steps[-1])


def fill(path: Path, start: int, end: int) -> tuple[float, float]:
    """CPU seconds for making the records, their texts not counted, and for writing them."""
    return making_and_writing(path, generated_pages(start, end))


def making_and_writing(path: Path, pages: Iterator[Page]) -> tuple[float, float]:
    """CPU seconds for making records, and for putting them into the store."""
    maker = RecordMaker(Recipe())
    store = EmbeddedStore.open(path, create=True)
    destination = StoreDestination(store)
    making = writing = 0.0
    while some := list(islice(pages, SOME)):
        start = time.process_time()
        made = [maker.make(page) for page in some]
        between = time.process_time()
        for record in made:
            if isinstance(record, Record):
                destination.add(record)
        writing += time.process_time() - between
        making += between - start
    start = time.process_time()
    destination.close()
    store.close()
    return making, writing + time.process_time() - start


def ask(index: Index, size: int, count: int) -> Seconds:
    """How long each kind of question takes, about the same pages."""
    random = Random(size)
    numbers = [random.randrange(size) for _ in range(count)]
    maker = RecordMaker(Recipe())
    tokens = []
    for page in (next(generated_pages(number, number + 1)) for number in numbers):
        record = maker.make(page)
        assert isinstance(record, Record)
        tokens.append(distinct(record.fingerprints))
    texts = [text(number) for number in numbers]
    words = [" ".join(random.sample(each.split(), 2)) for each in texts]
    urls = [url(number) for number in numbers]
    return {
        "similar(url=…), near-duplicates": clocked(lambda each: index.similar(url=each), urls),
        "similar(url=…, exact=False)": clocked(lambda each: index.similar(url=each, exact=False), urls),
        "similar(text=…), half of it": clocked(lambda each: index.similar(text=each), texts),
        "similar(text=…, min_containment=0), any passage": clocked(
            lambda each: index.similar(text=each, min_containment=0), texts
        ),
        "the same, guarantee=1000": clocked(
            lambda each: index.similar(text=each, min_containment=0, guarantee=1000), texts
        ),
        "store.overlap of all fingerprints": clocked(lambda each: index.store.overlap("fingerprints", each), tokens),
        "search, two words of a page": clocked(index.search, words),
    }


def clocked(question: Callable[..., object], about: Sequence[object]) -> list[float]:
    seconds = []
    for each in about:
        start = time.perf_counter()
        question(each)
        seconds.append(time.perf_counter() - start)
    return seconds


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """The median and the 95th percentile."""
    cuts = quantiles(seconds, n=20, method="inclusive")
    return cuts[9], cuts[18]


def questions_table(asked: list[Seconds], sizes: Sequence[int]) -> Table:
    rows = []
    for name in asked[0]:
        measured = [percentiles(seconds[name]) for seconds in asked]
        cells = [f"{p50 * 1e3:.1f} / {p95 * 1e3:.1f}" for p50, p95 in measured]
        rows.append((name, *cells, f"{measured[-1][0] / measured[0][0]:.1f} ×"))
    return Table(
        "Milliseconds, p50 / p95",
        ("", *(f"{size:,} records" for size in sizes), f"p50 grows, store {sizes[-1] / sizes[0]:.0f} ×"),
        rows,
        f"{AIM} {len(next(iter(asked[0].values())))} questions of each kind, one after the other, each about a page of"
        " the store with about 100 fingerprints. One page in ten is a near-duplicate of another, one in three has a"
        " passage from elsewhere; how often each is copied follows a power law.",
    )


def cost_table(costs: Sequence[tuple[int, int, float, float, dict[str, int]]]) -> Table:
    rows = [
        (
            f"{size:,}",
            f"{making / added * 1e3:.2f}",
            f"{writing / added * 1e3:.2f}",
            f"{sum(sizes.values()) / size:,.0f}",
        )
        for size, added, making, writing, sizes in costs
    ]
    return Table(
        "What a record costs, on the way to a store of so many",
        ("records", "CPU ms to make it of text", "to write it", "bytes in the store"),
        rows,
        "In batches as an indexing run makes them. These pages come as text: what HTML adds is in store_cost.",
    )


def size_table(sizes: dict[str, int], pages: int) -> Table:
    whole = sum(sizes.values())
    rows = [(name, f"{size / pages:,.0f}", f"{size / whole:.0%}") for name, size in sizes.items()]
    return Table(f"Bytes of a page, by what takes them: {pages:,} records", ("", "bytes", "share"), rows)
