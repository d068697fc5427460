"""Loading real pages into OpenSearch, compared with opensearch-py's `helpers.bulk` of titles and texts alone.

By the clock, in turns, on one node.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from opensearchpy import OpenSearch, helpers

from benchmarks.engine import Engine, Took, local_engine, timed
from benchmarks.store_cost import sets
from benchmarks.table import Run, Table
from benchmarks.timing import in_rounds
from benchmarks.unpacked_data import page_of
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.opensearch_document import document_of
from opensearch_winnow.mappings.opensearch_mapping import index_settings, mapping
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_operation import Operation
from tests.quality.corpora import records

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


def tables(run: Run) -> Iterator[Table]:
    with loading(run.size(PAGES, least=5)) as load:
        yield times_table(load, run.size(ROUNDS))
        yield size_table(load)


@contextmanager
def loading(pages: int) -> Iterator[Loading]:
    """Start an engine, and make the records of this many real pages of each set."""
    made = records(page for _, some in sets(pages) for page in some)
    with local_engine() as engine, OpenSearch(engine.url, timeout=300) as client:
        yield Loading(client, engine, made)


class Loading:
    """Loads the same pages again and again, each time into a new index."""

    def __init__(self, client: OpenSearch, engine: Engine, records: Sequence[Record]) -> None:
        self.records = records
        self._client = client
        self._engine = engine

    def texts_by_peer(self) -> Took:
        self._make(PLAIN, {})
        actions = ({"_index": NAME, "_id": each.id, "_source": texts(each)} for each in self.records)
        return timed(lambda: helpers.bulk(self._client, actions), self._engine)

    def texts(self, *, codec: str = "default") -> Took:
        self._make(PLAIN, {"codec": codec})
        operations = (Operation("index", NAME, each.id, texts(each)) for each in self.records)
        return timed(lambda: self._bulk(operations), self._engine)

    def all_fields(self, *, without: str = "", codec: str = "default") -> Took:
        self._make(mapping(Scheme()), index_settings(replicas=0) | {"codec": codec})
        sources = ((each.id, document_of(each, arrival=time.time_ns(), latest=True)) for each in self.records)
        operations = (
            Operation("index", NAME, id_, {name: value for name, value in source.items() if name != without})
            for id_, source in sources
        )
        return timed(lambda: self._bulk(operations), self._engine)

    def whole(self) -> Took:
        """Add pages to an index: make records, look up known pages, write, and refresh."""
        self._client.indices.delete(index=f"{STORE}-*,{STORE}.settings", ignore_unavailable=True)
        with TemporaryDirectory() as folder, Index.open(f"{self._engine.url}/{STORE}") as index:
            failed = Path(folder, "failed.jsonl")
            index.add([], failed=failed)  # creates the store
            took = timed(lambda: index.add(map(page_of, self.records), failed=failed), self._engine)
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


def texts(record: Record) -> dict[str, Any]:
    return {"title": record.title or "", "text": record.text}


def times_table(load: Loading, rounds: int) -> Table:
    kinds = {PEER: load.texts_by_peer, TEXTS: load.texts, ALL_FIELDS: load.all_fields, WHOLE: load.whole}
    took = in_rounds(list(kinds), lambda name: kinds[name](), rounds)
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
