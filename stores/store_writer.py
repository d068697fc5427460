"""Writes the records of an indexing run to a store, in batches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, NoReturn, Self

from opensearch_winnow.ingest.runs.pages_before_run import PagesBeforeRun
from opensearch_winnow.ingest.runs.record_writer import BLOCKED, RecordWriter
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record, bytes_in_memory
from opensearch_winnow.stores.archive_counts import save_left_out
from opensearch_winnow.stores.blocked_pages import BlockedPages, blocked_captures, blocked_entries
from opensearch_winnow.stores.revisits import Revisits
from opensearch_winnow.stores.store import RemoteStore, Store, StoreError, WriteOutcome

# The limits of a batch, which is what a killed process loses. Batches of 250 or 1,000 records were no faster.
MAX_BATCH_RECORDS = 4_000
MAX_BATCH_BYTES = 64_000_000
MAX_BATCH_SECONDS = 10.0
# For a remote store, which is written in the background: it should not wait long for the first batch.
MAX_REMOTE_BATCH_RECORDS = 2_000


def _stop(reason: str) -> NoReturn:
    raise StoreError(f"a page was refused: {reason}")


class WaitingRecord(NamedTuple):
    record: Record
    on_refused: Callable[[str], None]  # to be called with the reason


class StoreWriter(RecordWriter):
    """Writes records to a store in batches. Use it as a context manager; the store stays open.

    A remote store is written in the background: while one batch is being written, one more is collected. After Ctrl-C
    or any other exception, what was added is still written if the store allows it.

    A revisit gets the text and hashes of the page that it repeats, as soon as both are stored. `on_stored` is called
    with the records of each batch that are stored.
    """

    def __init__(self, store: Store, on_stored: Callable[[Sequence[Record]], object] = lambda _: None) -> None:
        self.count = 0  # records that are stored
        self._on_stored = on_stored
        self._store = store
        self._remote = store if isinstance(store, RemoteStore) else None
        self._background = ThreadPoolExecutor(1, "winnow write") if self._remote else None
        self._in_flight: tuple[list[WaitingRecord], Future[list[tuple[Record, WriteOutcome]]]] | None = None
        self._max_records = min(MAX_BATCH_RECORDS, MAX_REMOTE_BATCH_RECORDS) if self._remote else MAX_BATCH_RECORDS
        self._run_started = time.time_ns()
        self._revisits = Revisits(store)
        entries = blocked_entries(store)
        self._blocked = BlockedPages(entries)
        if self._remote and entries:  # a run that was killed before it read the list again may have left blocked pages
            store.delete([card.id for card in blocked_captures(store, entries)])
        self._clear()

    def pages_before_run(self, folder: Path) -> PagesBeforeRun:
        if self._remote:
            return PagesBeforeRun.listed(folder, look_up=partial(self._remote.known, before=self._run_started))
        from opensearch_winnow.stores.embedded import EmbeddedStore  # noqa: PLC0415 (only for a store of this kind)

        assert isinstance(self._store, EmbeddedStore)
        return PagesBeforeRun(self._store.path)

    def blocks(self, url: str) -> bool:
        """Return whether a URL was blocked when the run began. The store reads the list again with each batch."""
        return url in self._blocked

    def note_left_out(self, left_out: Mapping[str, Counter[str]]) -> None:
        """Keep the numbers of records that were not indexed: {path of the archive: {reason: number}}."""
        if left_out:
            save_left_out(self._store, left_out)

    def unfilled_revisits(self) -> int:
        """Count the revisits of this run that have no text, because the page that they repeat is not stored."""
        return len(self._revisits.unfilled)

    def example_url(self) -> str | None:
        """Return the URL of a stored page; None if the store is empty."""
        return next((card.url for card in self._store.scan(Card, limit=1)), None)

    def add(self, record: Record, on_refused: Callable[[str], None] = _stop) -> None:
        if not self._waiting:
            self._batch_started = time.monotonic()
        self._waiting.append(WaitingRecord(record, on_refused))
        self._size += bytes_in_memory(record)
        waited = time.monotonic() - self._batch_started
        if len(self._waiting) >= self._max_records or self._size >= MAX_BATCH_BYTES or waited >= MAX_BATCH_SECONDS:
            self.write()

    def write(self) -> None:
        """Write the waiting records: in the background for a remote store, once its previous batch is stored."""
        self._finish()
        if not self._waiting:
            return
        batch = self._waiting
        self._clear()
        records = [each.record for each in batch]
        if self._background:
            self._in_flight = batch, self._background.submit(self._revisits.write, records)
        else:
            self._settle(batch, partial(self._revisits.write, records))

    def flush(self) -> None:
        """Write all waiting records, and return when they are stored."""
        self.write()
        self._finish()

    def close(self) -> None:
        """Write all waiting records. The store stays open."""
        self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.close()
        except StoreError:
            if kind is None:  # otherwise the first exception is the one to report
                raise
        finally:
            if self._background:
                self._background.shutdown()

    def _clear(self) -> None:
        self._waiting: list[WaitingRecord] = []
        self._size = 0
        self._batch_started = 0.0

    def _finish(self) -> None:
        """Wait until the batch in the background is stored."""
        if self._in_flight:
            batch, future = self._in_flight
            wait([future])  # if Ctrl-C comes here, the batch is not forgotten
            self._in_flight = None
            self._settle(batch, future.result)

    def _settle(
        self, batch: Sequence[WaitingRecord], write: Callable[[], Sequence[tuple[Record, WriteOutcome]]]
    ) -> None:
        try:
            outcomes = write()
        except StoreError as error:
            at_least = "at least " if self._remote else ""
            raise StoreError(
                f"{error}; {at_least}{self.count:,} pages of this run are stored, and running it again continues there"
            ) from None
        stored = []
        for each, (record, written) in zip(batch, outcomes, strict=True):
            if written.outcome in ("failed", "blocked"):
                each.on_refused(written.reason or BLOCKED)
            else:
                stored.append(record)
        self.count += len(stored)
        self._on_stored(stored)
