"""Wall-clock time of questions to a store of generated records, and how it grows with the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.generated_pages import generated_pages, text, url
from benchmarks.table import Run, Table
from benchmarks.timing import clocked, percentiles
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.searching.results import FacetName
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store_writer import StoreWriter

SIZES = (10_000, 100_000)
QUESTIONS = 300
WARM_UP = 30  # questions of each kind that are not measured
BATCH_SIZE = 500  # records that are made, then added
FACETS: tuple[FacetName, ...] = ("site", "month")
AIM = "Aim: p50 of similar at most 15 ms with 100,000 records, and growth slower than that of the store."

Seconds = dict[str, list[float]]


class Step(NamedTuple):
    """Measurements of the store at one size."""

    records: int
    added: int  # since the last step
    making: float  # CPU seconds
    writing: float
    sizes: dict[str, int]
    seconds_by_question: Seconds


def tables(run: Run) -> Iterator[Table]:
    """Measure a store that grows from size to size."""
    steps = [0, *(run.size(size, least=20 * (number + 1)) for number, size in enumerate(SIZES))]
    grown = []
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        path = Path(folder, "generated.winnow")
        for start, end in pairwise(steps):
            making, writing = making_and_writing(path, generated_pages(start, end))
            with Index.open(path, create=False) as index:
                seconds_by_question = ask(index, end, run.size(QUESTIONS, least=5))
                grown.append(Step(end, end - start, making, writing, index.statistics().sizes, seconds_by_question))
    yield questions_table(grown)
    yield cost_table(grown)
    yield size_table(grown[-1].sizes, grown[-1].records)


def making_and_writing(path: Path, pages: Iterator[Page]) -> tuple[float, float]:
    """Return the CPU seconds for making records, and for writing them to the store and closing it."""
    maker = RecordMaker(Recipe())
    making = writing = 0.0
    with EmbeddedStore.open(path, create=True) as store, StoreWriter(store) as destination:
        while some := list(islice(pages, BATCH_SIZE)):
            start = time.process_time()
            made = [maker.make(page) for page in some]
            between = time.process_time()
            for record in made:
                if isinstance(record, Record):
                    destination.add(record)
            writing += time.process_time() - between
            making += between - start
        start = time.process_time()
    return making, writing + time.process_time() - start


def ask(index: Index, size: int, count: int) -> Seconds:
    """Ask each kind of question about the same generated pages."""
    random = Random(size)
    numbers = [random.randrange(size) for _ in range(count + WARM_UP)]
    texts = [text(number) for number in numbers]
    words = [" ".join(random.sample(each.split(), 2)) for each in texts]
    urls = [url(number) for number in numbers]
    kinds: dict[str, tuple[Callable[[str], object], Sequence[str]]] = {
        "similar(url=…), near-duplicates": (lambda each: index.similar(url=each), urls),
        "similar(url=…, exact=False)": (lambda each: index.similar(url=each, exact=False), urls),
        "similar(text=…), half of it": (lambda each: index.similar(text=each), texts),
        "similar(text=…, min_containment=0), any passage": (
            lambda each: index.similar(text=each, min_containment=0),
            texts,
        ),
        "the same, guarantee=1000": (
            lambda each: index.similar(text=each, min_containment=0, guarantee=1000),
            texts,
        ),
        "search, two words of a page": (index.search, words),
        "the same, grouped": (lambda each: index.search(each, group=True), words),
        "the same, with facets": (lambda each: index.search(each, facets=FACETS), words),
    }
    return {name: clocked(question, about)[WARM_UP:] for name, (question, about) in kinds.items()}


def questions_table(grown: Sequence[Step]) -> Table:
    first, last = grown[0], grown[-1]
    rows = []
    for name in first.seconds_by_question:
        measured = [percentiles(step.seconds_by_question[name]) for step in grown]
        cells = [f"{p50:.1f} / {p95:.1f}" for p50, p95 in measured]
        rows.append((name, *cells, f"{measured[-1][0] / measured[0][0]:.1f} ×"))
    return Table(
        "Milliseconds, p50 / p95",
        (
            "",
            *(f"{step.records:,} records" for step in grown),
            f"p50 grows, store {last.records / first.records:.0f} ×",
        ),
        rows,
        f"{AIM} {len(last.seconds_by_question[rows[0][0]])} questions of each kind, one after the other, each about a"
        " page of the store with about 100 fingerprints. One page in ten is a near-duplicate of another, and one in"
        " three has a passage from elsewhere; the number of copies follows a power law. The 50 pages of a site share"
        " a template, so a question for any passage finds all of them.",
    )


def cost_table(grown: Sequence[Step]) -> Table:
    rows = [
        (
            f"{step.records:,}",
            f"{step.making / step.added * 1e3:.2f}",
            f"{step.writing / step.added * 1e3:.2f}",
            f"{sum(step.sizes.values()) / step.records:,.0f}",
        )
        for step in grown
    ]
    return Table(
        "What a record costs, by the size of the store",
        ("records", "CPU ms to make it of text", "to write it", "bytes in the store"),
        rows,
        "In the batches of an indexing run. These pages are text already; store_cost shows what HTML adds.",
    )


def size_table(sizes: dict[str, int], pages: int) -> Table:
    whole = sum(sizes.values())
    rows = [(name, f"{size / pages:,.0f}", f"{size / whole:.0%}") for name, size in sizes.items()]
    return Table(f"Bytes of a page, by what takes them: {pages:,} records", ("", "bytes", "share"), rows)
