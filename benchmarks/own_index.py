"""Time and bytes of attaching an index of one's own, of keeping it up to date, and of questions about it.

The documents are generated pages, in an index with a mapping of its own, on one node.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from threading import Event, Thread
from typing import Any

from opensearchpy import OpenSearch, helpers

from benchmarks.engine import local_engine
from benchmarks.generated_pages import generated_pages
from benchmarks.table import Run, Table
from benchmarks.timing import WARM_UP, in_turns
from benchmarks.unpacked_data import page_of, real_records
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.stores.attach_options import AttachOptions
from opensearch_winnow.stores.opensearch.own_index.attach import attach, detach
from opensearch_winnow.stores.opensearch.own_index.attach_reports import AttachReport
from opensearch_winnow.stores.opensearch.own_index.backfill import CHECKPOINTS
from opensearch_winnow.stores.opensearch.requests.client import Address, connect

DOCUMENTS = 200_000
CHANGED = 100  # one document of this many
QUESTIONS = 300
WRITES_PER_SECOND = 100  # of a program that writes during the update
RETENTION_SECONDS = 45  # for which an engine keeps old versions of documents, which would count as bytes
MAPPING = {
    "dynamic": "strict",
    "properties": {"headline": {"type": "text"}, "body": {"type": "text"}, "author": {"type": "keyword"}},
}
FIELDS = AttachOptions(text=("body",), title="headline")
OWN, STORE = "an attached index", "a store of the same pages"


def tables(run: Run) -> Iterator[Table]:
    with local_engine(heap="2g") as engine:
        yield attaching(engine.url, run)
        yield questions(engine.url, run)


def attaching(engine: str, run: Run) -> Table:
    count = run.size(DOCUMENTS, least=500)
    address = Address.of(f"{engine}/articles")
    rows: list[tuple[str, ...]] = []

    def clock(what: str, do: Callable[[], object]) -> None:
        start = time.monotonic()
        report = do()
        seconds = time.monotonic() - start
        done = f"{report.done:,}" if isinstance(report, AttachReport) else ""
        rows.append((what, done, f"{seconds:.1f}", f"{count / seconds:,.0f}"))

    with connect(address, timeout=600.0) as client:
        create(client, "articles")
        clock("the owner loads the documents", lambda: load(client, "articles", generated_pages(0, count)))
        before = size(client)
        clock("attach", lambda: attach(client, address, FIELDS))
        clock("update, nothing has changed", lambda: attach(client, address))
        change(client, count // CHANGED)
        clock(f"update, {count // CHANGED:,} have changed", lambda: attach(client, address))
        with writer(client, count):
            clock(f"update, while others write {WRITES_PER_SECOND} a second", lambda: attach(client, address))
        client.delete(index="winnow.articles.settings", id=CHECKPOINTS, params={"refresh": "true"})
        clock("update that looks at all documents", lambda: attach(client, address))
        time.sleep(RETENTION_SECONDS if run.scale >= 0.05 else 0)
        after = size(client)
        clock("detach", lambda: detach(client, address))
    note = (
        f"Bytes a document, as one segment: {before / count:,.0f} before, {after / count:,.0f} attached:"
        f" {(after - before) / count:,.0f} more. While documents are written, there are two versions of them."
    )
    return Table(f"{count:,} documents", ("", "written", "seconds", "documents/s"), rows, note)


def questions(engine: str, run: Run) -> Table:
    corpus = real_records(run.scale)
    pages = {record.url: page_of(record) for record in corpus}
    address = Address.of(f"{engine}/manuals")
    with connect(address, timeout=600.0) as client:
        create(client, "manuals")
        load(client, "manuals", pages.values())
        attach(client, address, FIELDS)
        with Index.open(f"{engine}/manuals-store") as store, Index.open(f"{engine}/manuals") as own:
            store.add(pages.values())
            for index in (store, own):
                index.cluster()
                client.indices.forcemerge(index=index.name.rpartition("/")[2], max_num_segments=1)
            subjects = Random(6).sample(corpus, min(len(corpus), run.size(QUESTIONS, least=5) + WARM_UP))
            rows: list[tuple[str, ...]] = []
            for what, ask in KINDS.items():
                turns = {f"{what}, {STORE}": partial(ask, store), f"{what}, {OWN}": partial(ask, own)}
                rows += in_turns(turns, subjects, beside=(f"{what}, {STORE}",))
    return Table(f"Questions about {len(pages):,} real pages: milliseconds, p50 / p95", ("", "ms", "of a store"), rows)


KINDS: dict[str, Callable[[Index, Any], Any]] = {
    "similar(url=…)": lambda index, page: index.similar(url=page.url),
    "search(word, group=True)": lambda index, page: index.search(page.text.split()[5], group=True),
    'search(…, by="cluster")': lambda index, page: index.search(page.text.split()[5], group=True, by="cluster"),
}


def create(client: OpenSearch, name: str, *, shards: int = 1) -> None:
    settings = {"number_of_shards": shards, "number_of_replicas": 0}
    client.indices.create(index=name, body={"settings": settings, "mappings": MAPPING})


def load(client: OpenSearch, name: str, pages: Iterable[Page]) -> None:
    documents = (
        {"_index": name, "_id": page.url, "_source": {"headline": page.title or "", "body": page.text}}
        for page in pages
    )
    for _ in helpers.parallel_bulk(client, documents, thread_count=2):
        pass
    client.indices.refresh(index=name)


def change(client: OpenSearch, count: int) -> None:
    update = {"_op_type": "update", "_index": "articles"}
    urls = (page.url for page in generated_pages(0, count))
    changes = (update | {"_id": url, "doc": {"body": f"It has changed: {url} " * 50}} for url in urls)
    helpers.bulk(client, changes, refresh=True)


@contextmanager
def writer(client: OpenSearch, count: int) -> Iterator[None]:
    """Write new documents in the background."""
    stop = Event()

    def write() -> None:
        for page in generated_pages(count, count + 1_000_000):
            if stop.wait(1 / WRITES_PER_SECOND):
                return
            client.index(index="articles", id=page.url, body={"body": page.text})

    thread = Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def size(client: OpenSearch) -> int:
    """Return the bytes of the index as one segment."""
    client.indices.flush(index="articles")
    client.indices.forcemerge(index="articles", max_num_segments=1, params={"request_timeout": 600})
    client.indices.refresh(index="articles")  # until then, the segments before the merge are there as well
    found: int = client.indices.stats(index="articles", metric="store")["_all"]["total"]["store"]["size_in_bytes"]
    return found
