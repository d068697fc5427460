"""Wall-clock time of grouped searches through the gateway, compared with the same searches at the engine, on one node.

Queries are two words of a document, and each kind of search takes its turn with each of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from opensearchpy import OpenSearch

from benchmarks.opensearch_questions import WARM_UP, in_turns
from benchmarks.own_index import FIELDS, create, load
from benchmarks.table import Run, Table
from benchmarks.unpacked_data import real_records
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.queries.dsl.deduplicate_search_body import deduplicate_search_body
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.opensearch.own_index.attach import attach
from opensearch_winnow.stores.opensearch.requests.client import Address, connect

QUERIES = 200
DOCUMENTS = 4_000
PLAIN, COLLAPSED = "the engine alone", "the engine alone, with collapse by cluster"
COMMAND = "from opensearch_winnow.cli import main; main()"


def tables(run: Run) -> Iterator[Table]:
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        engine = LocalEngine(Path(folder, "engine"))
        running = engine.start(heap="1g", port=free_port(), owner=os.getpid())
        try:
            with gateway(running.url) as proxy:
                yield searches(running.url, proxy, run)
        finally:
            engine.stop()


@contextmanager
def gateway(engine: str) -> Iterator[str]:
    """Run a gateway as its command does, and yield its address."""
    command = [sys.executable, "-c", COMMAND, "gateway", "--to", engine, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split(" at ")[1].strip()
        finally:
            process.terminate()


def searches(engine: str, proxy: str, run: Run) -> Table:
    corpus = real_records()
    corpus = corpus[:: max(1, len(corpus) // run.size(DOCUMENTS, least=50))]
    address = Address.of(f"{engine}/manuals")
    with connect(address, timeout=600.0) as client, OpenSearch(proxy, timeout=600) as through:
        create(client, "manuals")
        load(client, "manuals", (Page(each.url, text=each.text, title=each.title) for each in corpus))
        attach(client, address, FIELDS)
        with Index.open(f"{engine}/manuals") as index:
            index.cluster()
        client.indices.forcemerge(index="manuals", max_num_segments=1)
        found: list[int] = []

        def search(at: OpenSearch, body: dict[str, Any], **parameters: str) -> Any:
            return at.search(index="manuals", body=body, params=parameters)

        def grouped(words: str, **options: str) -> None:
            found.append(search(through, body_of(words), winnow="group", **options)["hits"]["total"]["value"])

        kinds: dict[str, Callable[[str], Any]] = {
            PLAIN: lambda words: search(client, body_of(words)),
            "through the gateway, without groups": lambda words: search(through, body_of(words)),
            "through the gateway, grouped": grouped,
            "the same, page 5": lambda words: search(through, body_of(words) | {"from": 40}, winnow="group"),
            "the same, 1,000 hits examined": lambda words: grouped(words, winnow_examine="1000"),
            COLLAPSED: lambda words: search(client, deduplicate_search_body(body_of(words), field=FIELDS.cluster)),
        }
        rows = in_turns(kinds, queries(corpus, run), beside=(PLAIN, COLLAPSED))
    return Table(
        f"{len(corpus):,} real pages: milliseconds, p50 / p95",
        ("", "ms", "of the engine alone", "of collapse"),
        rows,
        f"The first 10 hits or groups, with title and highlights. A search finds {sorted(found)[len(found) // 2]:,}"
        " documents (median), and at least 100 of them are examined.",
    )


def body_of(words: str) -> dict[str, Any]:
    return {
        "query": {"match": {"body": {"query": words, "operator": "and"}}},
        "_source": ["headline"],
        "highlight": {"fields": {"body": {}}},
    }


def queries(corpus: list[Any], run: Run) -> list[str]:
    source = Random(7)
    made: list[str] = []
    while len(made) < run.size(QUERIES, least=5) + WARM_UP:
        words = [word for word in source.choice(corpus).text.split() if word.isalpha()]
        if len(words) > 1:
            start = source.randrange(len(words) - 1)
            made.append(" ".join(words[start : start + 2]))
    return made
