"""Wall-clock time of grouped search results on OpenSearch, compared with the same hits without groups, on one node.

Queries are two words of a title; each kind of search takes its turn with each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.corpus import two_words
from benchmarks.engine import local_engine
from benchmarks.generated_pages import generated_pages
from benchmarks.opensearch_questions import filled, search
from benchmarks.table import Run, Table
from benchmarks.timing import WARM_UP, in_turns
from benchmarks.unpacked_data import page_of, real_records
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.dsl.words import words_query
from opensearch_winnow.queries.words import Words

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
    corpus = real_records(run.scale)
    # The default limit is 300 points in time, and this benchmark leaves more open.
    with local_engine(heap="2g", settings={"search.max_open_pit_context": "1000"}) as engine:
        with filled(engine.url, "manuals", map(page_of, corpus)) as (index, client):
            titles = [each.title for each in corpus if each.title]
            yield times_table("Manuals and licences", index, client, titles, run)
        with filled(engine.url, "generated", generated_pages(0, run.size(RECORDS, least=200))) as (index, client):
            texts = [record.text for record, _ in zip(index.store.scan(Record), range(1_000), strict=False)]
            yield times_table("Generated pages", index, client, texts, run)


def times_table(title: str, index: Index, client: Any, texts: list[str], run: Run) -> Table:
    kinds: dict[str, Callable[[str], Any]] = {
        RAW: lambda typed: search(index, client, {"query": words_query(Words.of(typed)), "size": 10})
    }
    for name, options in KINDS.items():
        kinds[name] = lambda typed, options=options: index.search(typed, **options)  # type: ignore[misc]
    rows = in_turns(kinds, two_words(texts, run.size(QUERIES, least=5) + WARM_UP), beside=(TOP, HUNDRED))
    count = index.store.count()
    return Table(f"{title}, {count:,} of them: milliseconds, p50 / p95", ("", "ms", "of 10", "of 100"), rows, AIM)
