"""Wall-clock time of grouped search results on OpenSearch, compared with the same hits without groups, on one node.

Queries are two words of a title; each kind of search takes its turn with each of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.generated_pages import generated_pages
from benchmarks.opensearch_questions import WARM, filled, in_turns, search
from benchmarks.table import Run, Table
from benchmarks.unpacked_data import real_records
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.dsl.words import words_query
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port

RECORDS = 50_000
QUERIES = 250
TOP, HUNDRED, RAW = (
    "search, the first 10",
    "search, the first 100",
    "plain opensearch-py, the first 10, whole documents",
)
GROUPED = "grouped by signature, 100 examined"
KINDS: dict[str, dict[str, Any]] = {
    TOP: {},
    HUNDRED: {"limit": 100},
    GROUPED: {"group": True},
    "the same, all scores exact": {"group": True, "exact": True},
    "the same, kept for the next page": {"group": True, "stable": True},
    "grouped by signature, 1,000 examined": {"group": True, "examine": 1_000},
    "grouped by cluster": {"group": True, "by": "cluster"},
    "grouped by both": {"group": True, "by": "both"},
}
AIM = "Aim: grouped by signature within 1.1 × the first 100 without groups, and 1.5 × the first 10."


def tables(run: Run) -> Iterator[Table]:
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        engine = LocalEngine(Path(folder, "engine"))
        # Usually there are 300 points in time at most, which is fewer than we leave open.
        many = {"search.max_open_pit_context": "1000"}
        running = engine.start(heap="2g", port=free_port(), owner=os.getpid(), settings=many)
        try:
            corpus = real_records()[:: max(1, round(1 / run.scale))]
            real = (Page(each.url, text=each.text, title=each.title) for each in corpus)
            with filled(running.url, "manuals", real) as (index, client):
                titles = [each.title for each in corpus if each.title]
                yield times_table("Manuals and licences", index, client, titles, run)
            with filled(running.url, "generated", generated_pages(0, run.size(RECORDS, least=200))) as (index, client):
                texts = [record.text for record, _ in zip(index.store.scan(Record), range(1_000), strict=False)]
                yield times_table("Generated pages", index, client, texts, run)
        finally:
            engine.stop()


def times_table(title: str, index: Index, client: Any, texts: list[str], run: Run) -> Table:
    source = Random(7)
    asked: list[str] = []
    while len(asked) < run.size(QUERIES, least=5) + WARM:
        words = [word for word in source.choice(texts).split() if word.isalpha()]
        start = source.randrange(max(len(words) - 1, 1))
        if words:
            asked.append(" ".join(words[start : start + 2]))
    kinds: dict[str, Callable[[str], Any]] = {
        RAW: lambda typed: search(index, client, {"query": words_query(Words.of(typed)), "size": 10})
    }
    for name, how in KINDS.items():
        kinds[name] = lambda typed, how=how: index.search(typed, **how)  # type: ignore[misc]
    rows = in_turns(kinds, asked, beside=(TOP, HUNDRED))
    count = index.store.count()
    return Table(f"{title}, {count:,} of them: milliseconds, p50 / p95", ("", "ms", "of 10", "of 100"), rows, AIM)
