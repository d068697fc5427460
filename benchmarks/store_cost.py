"""The cost of writing real pages to a store, compared with making their records: one process, CPU time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.corpus import DATA
from benchmarks.store import making_and_writing, size_table
from benchmarks.table import Run, Table
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from tests.public_pages import HUTOOL, LUCENE, NABLARCH, javadoc, licences
from tests.quality.corpora import html_pages

SETS = {
    "postgresql-doc-13-15-17": "a manual, three versions",
    "trafilatura-eval": "news, blogs and shops of 2005 to 2020",
    "wcxb-dev350": "the Web of 2025",
}


class Cost(NamedTuple):
    pages: int  # that have a text
    html: int  # bytes
    text: int  # characters
    making: float  # CPU seconds
    writing: float
    sizes: dict[str, int]


def tables(run: Run) -> Iterator[Table]:
    costs = {what: cost(pages) for what, pages in sets(run.size(3_000, least=5))}
    costs["together"] = together(costs.values())
    rows = [
        (
            what,
            f"{each.pages:,}",
            f"{each.html / each.pages / 1e3:.1f} → {each.text / each.pages / 1e3:.1f}",
            f"{each.making / each.pages * 1e3:.2f}",
            f"{each.writing / each.pages * 1e3:.2f}",
            f"{each.writing / each.making:.2f} ×",
        )
        for what, each in costs.items()
    ]
    yield Table(
        "HTML to record, and record to store",
        ("", "pages", "kB of HTML → text", "CPU ms to make a record", "to write it", "writing / making"),
        rows,
        "Aim: at most 1 ×, including the text index. Batches are those of an indexing run; closing the store counts.",
    )
    yield size_table(costs["together"].sizes, costs["together"].pages)


def together(costs: Iterable[Cost]) -> Cost:
    pages, html, text, making, writing, sizes = zip(*costs, strict=True)
    parts: Counter[str] = Counter()
    for each in sizes:
        parts.update(each)
    return Cost(sum(pages), sum(html), sum(text), sum(making), sum(writing), parts)


def sets(most: int) -> Iterator[tuple[str, Iterator[Page]]]:
    """Sets of pages by what they are: real ones where they are at hand."""
    if not DATA.is_dir():
        yield "Javadoc in English", islice(javadoc(*LUCENE), most)
        yield "Javadoc in Chinese", islice(javadoc(*HUTOOL), most)
        yield "Javadoc in Japanese", islice(javadoc(*NABLARCH), most)
        yield "licences", islice(licences(), most)
        return
    with unpacked_data() as unpacked:
        for name, what in SETS.items():
            yield what, islice(html_pages(unpacked(name), f"https://{name}.example"), most)


def cost(pages: Iterable[Page]) -> Cost:
    read = list(pages)
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        path = Path(folder, "pages.winnow")
        making, writing = making_and_writing(path, iter(read))
        with Index.open(path, create=False) as index:
            text = sum(len(record.text) for record in index.store.scan(Record))
            html = sum(page.size for page in read)
            return Cost(index.store.count(), html, text, making, writing, index.statistics().sizes)
