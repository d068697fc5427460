"""Loading real pages into OpenSearch, compared with opensearch-py's `helpers.bulk` of titles and texts alone.

By the clock, in turns, on one node.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import psutil
from opensearchpy import OpenSearch, helpers

from benchmarks.store_cost import sets
from benchmarks.table import Run, Table
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.opensearch_document import document_of
from opensearch_winnow.mappings.opensearch_mapping import index_settings, mapping
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_operation import Operation

PAGES = 3_000  # of each set
ROUNDS = 5  # measured, after a first round in which the engine compiles its code
NAME = "pages"
STORE = "store"
PLAIN = {"properties": {"title": {"type": "text"}, "text": {"type": "text"}}}
PEER, TEXTS, ALL_FIELDS, WHOLE = (
    "`helpers.bulk`, title and text",
    "our bulk loop, title and text",
    "our bulk loop, all fields",
    "`Index.add` of the pages as text",
)
AIM = "Aim: all fields at least .7 × as many pages a second as `helpers.bulk` of title and text."


class Took(NamedTuple):
    seconds: float
    engine: float  # CPU seconds
    here: float


def tables(run: Run) -> Iterator[Table]:
    with loading(run.size(PAGES, least=5)) as load:
        yield times_table(load, run.size(ROUNDS))
        yield size_table(load)


@contextmanager
def loading(pages: int) -> Iterator[Loading]:
    """Start an engine, and make the records of this many real pages of each set."""
    maker = RecordMaker(Recipe())
    made = (maker.make(page) for _, some in sets(pages) for page in some)
    records = [record for record in made if isinstance(record, Record)]
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        engine = LocalEngine(Path(folder, "engine"))
        running = engine.start(heap="1g", port=free_port(), owner=os.getpid())
        (node,) = running.nodes
        try:
            with OpenSearch(running.url, timeout=300) as client:
                yield Loading(client, running.url, psutil.Process(node.pid), records)
        finally:
            engine.stop()


class Loading:
    """Loads the same pages again and again, each time into a new index."""

    def __init__(self, client: OpenSearch, url: str, engine: psutil.Process, records: Sequence[Record]) -> None:
        self.records = records
        self._store = f"{url}/{STORE}"
        self._client = client
        self._engine = engine

    def texts_by_peer(self) -> Took:
        self._make(PLAIN, {})
        return self._clocked(lambda: helpers.bulk(self._client, map(self._action, self.records)))

    def texts(self, *, codec: str = "default") -> Took:
        self._make(PLAIN, {"codec": codec})
        return self._clocked(
            lambda: self._bulk(Operation("index", NAME, each.id, texts(each)) for each in self.records)
        )

    def all_fields(self, *, without: str = "", codec: str = "default") -> Took:
        self._make(mapping(Scheme()), index_settings(replicas=0) | {"codec": codec})
        sources = ((each.id, document_of(each, place=time.time_ns(), latest=True)) for each in self.records)
        return self._clocked(
            lambda: self._bulk(
                Operation("index", NAME, id_, {name: value for name, value in source.items() if name != without})
                for id_, source in sources
            )
        )

    def whole(self) -> Took:
        """Add pages to an index: make records, look up known pages, write, and refresh."""
        self._client.indices.delete(index=f"{STORE}-*,{STORE}.settings", ignore_unavailable=True)
        pages = (Page(each.url, text=each.text, title=each.title) for each in self.records)

        with TemporaryDirectory() as folder, Index.open(self._store) as index:
            failed = Path(folder, "failed.jsonl")
            index.add([], failed=failed)  # creates the store
            took = self._clocked(lambda: index.add(pages, failed=failed))
            assert index.store.count() == len(self.records)
        return took

    def size(self) -> int:
        """Return the bytes of the index, merged to one segment."""
        indices = self._client.indices
        indices.refresh(index=NAME)
        indices.forcemerge(index=NAME, max_num_segments=1)
        indices.flush(index=NAME, force=True)
        indices.refresh(index=NAME)  # removes the old segments
        return int(indices.stats(index=NAME, metric="store")["_all"]["primaries"]["store"]["size_in_bytes"])

    def _make(self, fields: dict[str, Any], settings: dict[str, Any]) -> None:
        self._client.indices.delete(index=f"{NAME}-*")
        self._client.indices.create(
            index=f"{NAME}-000001",
            body={"settings": {"number_of_replicas": 0} | settings, "aliases": {NAME: {}}, "mappings": fields},
        )

    def _bulk(self, operations: Iterator[Operation]) -> None:
        for written in bulk(self._client, operations):
            assert written.outcome == "added", written

    def _clocked(self, write: Callable[[], object]) -> Took:
        engine, here, start = sum(self._engine.cpu_times()[:2]), time.process_time(), time.perf_counter()
        write()
        seconds = time.perf_counter() - start
        return Took(seconds, sum(self._engine.cpu_times()[:2]) - engine, time.process_time() - here)

    @staticmethod
    def _action(record: Record) -> dict[str, Any]:
        return {"_index": NAME, "_id": record.id, "_source": texts(record)}


def texts(record: Record) -> dict[str, Any]:
    return {"title": record.title or "", "text": record.text}


def times_table(load: Loading, rounds: int) -> Table:
    kinds = {PEER: load.texts_by_peer, TEXTS: load.texts, ALL_FIELDS: load.all_fields, WHOLE: load.whole}
    took: dict[str, list[Took]] = {name: [] for name in kinds}
    for number in range(rounds + 1):
        for name, kind in kinds.items():
            measured = kind()
            if number:
                took[name].append(measured)
    pages = len(load.records)
    rows = []
    for name, each in took.items():
        ratio = median(peer.seconds / ours.seconds for peer, ours in zip(took[PEER], each, strict=True))
        rows.append(
            (
                name,
                f"{pages / median(one.seconds for one in each):,.0f}",
                f"{ratio:.2f} ×",
                f"{median(one.engine for one in each) / pages * 1e3:.2f}",
                f"{median(one.here for one in each) / pages * 1e3:.2f}",
            )
        )
    return Table(
        f"{pages:,} real pages",
        ("", "pages a second", "pages a second, beside it", "CPU ms of the engine, a page", "of the client"),
        rows,
        f"{AIM} The median of {rounds} rounds. For the bulk loop, the records are made beforehand and their"
        " documents during the run. `Index.add` also makes the records, looks up their URLs and contents in the store,"
        " and refreshes the index.",
    )


def size_table(load: Loading) -> Table:
    pages = len(load.records)
    load.texts_by_peer()
    plain = load.size()
    load.all_fields()
    whole = load.size()
    rows = [
        ("title and text", f"{plain / pages:,.0f}", "1.00 ×"),
        ("all fields", f"{whole / pages:,.0f}", f"{whole / plain:.2f} ×"),
    ]
    return Table("Bytes of a page in the index, as one segment", ("", "bytes", ""), rows, "Aim: at most 1.8 ×.")
