"""Wall-clock time of questions to OpenSearch, compared with a match of ten words and with more_like_this.

Each takes its turn about the same pages, on one node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from random import Random
from typing import Any

from opensearchpy import OpenSearch

from benchmarks.engine import local_engine
from benchmarks.generated_pages import generated_pages
from benchmarks.table import Run, Table
from benchmarks.timing import WARM_UP, in_turns
from benchmarks.unpacked_data import page_of, real_records
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.hash_tokens import tokens_of
from opensearch_winnow.mappings.opensearch_document import CARD_FIELDS
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.dsl.overlap import overlap
from opensearch_winnow.queries.dsl.pages import best
from tests.quality.measured import THRESHOLD
from tests.quality.truth import Pairs, truth_about

RECORDS = 100_000
QUESTIONS = 300
HITS = 100  # of more_like_this in which a near-duplicate counts as found
MATCH, NEAR, CANDIDATES, MLT = (
    "match, ten words of the page",
    "similar(url=…), near-duplicates, whole answer",
    "of that, the search for candidates by sketch",
    "more_like_this the page",
)
AIM = "Aim: the whole answer within 1.5 × a match of ten words and .7 × more_like_this, recall at least .99."


def tables(run: Run) -> Iterator[Table]:
    corpus = real_records(run.scale)
    with local_engine(heap="2g") as engine:
        with filled(engine.url, "manuals", map(page_of, corpus)) as (index, client):
            yield times_table("Real pages", index, client, run)
            yield recall_table(index, client, corpus)
        with filled(engine.url, "generated", generated_pages(0, run.size(RECORDS, least=200))) as (index, client):
            yield times_table("Generated pages", index, client, run)


@contextmanager
def filled(engine: str, name: str, pages: Iterable[Page]) -> Iterator[tuple[Index, OpenSearch]]:
    with OpenSearch(engine, timeout=300) as client, Index.open(f"{engine}/{name}") as index:
        index.add(pages)
        client.indices.forcemerge(index=name, max_num_segments=1)
        yield index, client


def times_table(title: str, index: Index, client: OpenSearch, run: Run) -> Table:
    """Ask all kinds of questions about one page, then about the next."""
    pages = list(index.store.scan(Record) if title == "Real pages" else islice(index.store.scan(Record), 20_000))
    subjects = Random(6).sample(pages, min(len(pages), run.size(QUESTIONS, least=5) + WARM_UP))
    kinds: dict[str, Callable[[Record], Any]] = {
        MATCH: lambda page: search(index, client, match(page)),
        MLT: lambda page: search(index, client, more_like_this(index, page)),
        CANDIDATES: lambda page: search(index, client, candidates(page)),
        NEAR: lambda page: index.similar(url=page.url),
    }
    rows = in_turns(kinds, subjects, beside=(MATCH, MLT))
    count = index.store.count()
    return Table(f"{title}, {count:,} of them: milliseconds, p50 / p95", ("", "ms", "of match", "of mlt"), rows, AIM)


def recall_table(index: Index, client: OpenSearch, corpus: list[Record]) -> Table:
    truth = truth_about(corpus, Scheme(), min_score=THRESHOLD).resemblances
    ours = {(url, match.card.url) for url in urls(truth) for match in index.similar(url=url, limit=None).matches}
    by_url = {record.url: record for record in corpus}
    theirs: set[tuple[str, str]] = set()
    first: set[tuple[str, str]] = set()  # found among as many hits as the page has near-duplicates
    for url in urls(truth):
        found = search(index, client, more_like_this(index, by_url[url], HITS))["hits"]["hits"]
        others = [hit["_source"]["url"] for hit in found]
        theirs |= {(url, other) for other in others}
        first |= {(url, other) for other in others[: sum(1 for a, _ in truth if a == url)]}
    rows = [
        ("similar(url=…)", *shares(ours, truth)),
        (f"more_like_this, among its first {HITS}", *shares(theirs, truth)),
        ("more_like_this, among as many hits as the page has near-duplicates", *shares(first, truth)),
    ]
    return Table(
        f"Near-duplicates of {len(urls(truth)):,} real pages, resemblance at least {THRESHOLD:g}",
        ("", "recall", "precision"),
        rows,
        f"The truth is the exact resemblance of all pairs of pages: {len(truth) // 2:,} are near-duplicates.",
    )


def urls(truth: Pairs) -> list[str]:
    return sorted({url for url, _ in truth})


def shares(found: set[tuple[str, str]], truth: Pairs) -> tuple[str, str]:
    right = sum(pair in truth for pair in found)
    return f"{right / len(truth):.4f}", f"{right / max(len(found), 1):.4f}"


def search(index: Index, client: OpenSearch, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = client.search(index=index.name.rpartition("/")[2], body=body)
    return answer


def match(page: Record) -> dict[str, Any]:
    words = page.text.split()
    some = Random(page.id).sample(words, min(10, len(words)))
    return {"query": {"match": {"text": " ".join(some)}}, "size": 10, "_source": ["url", "title"]}


def more_like_this(index: Index, page: Record, hits: int = 10) -> dict[str, Any]:
    """Return the query with the default options of the engine."""
    like = {"_index": index.name.rpartition("/")[2], "_id": page.id}
    query = {"more_like_this": {"fields": ["text"], "like": [like]}}
    return {"query": query, "size": hits, "_source": ["url", "title"]}


def candidates(page: Record) -> dict[str, Any]:
    return best(overlap("sketch", tokens_of(page.hashes.sketch) or ["none"]), size=100, fields=CARD_FIELDS)
