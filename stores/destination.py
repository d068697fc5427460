"""Writes the records of an indexing run to a store, in batches."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, NoReturn, Self

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record, Stored, bytes_in_memory
from opensearch_winnow.stores.revisits import Revisits
from opensearch_winnow.stores.store import RemoteStore, Store, StoreError, Written

# The limits of a batch, which is what a killed process loses. Batches of 250 or 1,000 records took as much time.
MAX_BATCH_RECORDS = 4_000
MAX_BATCH_BYTES = 64_000_000
MAX_BATCH_SECONDS = 10.0
# For a remote store, which is written in the background: the first batch should not keep it waiting for long.
MAX_REMOTE_BATCH_RECORDS = 2_000


def _stop(reason: str) -> NoReturn:
    raise StoreError(f"a page was refused: {reason}")


class WaitingRecord(NamedTuple):
    record: Record
    refused: Callable[[str], None]  # to be called with the reason


class StoreDestination:
    """Writes records to a store in batches. Used as a context; the store stays open.

    A remote store is written in the background: while one batch is written, the next one is made, but no further one.
    Ctrl-C, or any exception, still writes what was added, if the store can be written.

    A revisit gets the text and hashes of the page that it repeats, if that page is stored or came before it.
    """

    def __init__(self, store: Store) -> None:
        self.count = 0  # records that are stored
        self._store = store
        self._remote = store if isinstance(store, RemoteStore) else None
        self._background = ThreadPoolExecutor(1, "winnow write") if self._remote else None
        self._in_hand: tuple[list[WaitingRecord], Future[list[Written]]] | None = None
        self._records = min(MAX_BATCH_RECORDS, MAX_REMOTE_BATCH_RECORDS) if self._remote else MAX_BATCH_RECORDS
        self._started = time.time_ns()
        self._revisits = Revisits(store)
        self._clear()

    @property
    def stored_file(self) -> Path | None:
        """The file of an embedded store, which lists its pages; None for a remote store."""
        return None if self._remote else Path(os.path.realpath(self._store.name))

    def stored(self) -> Iterable[Stored]:
        """Return nothing: a remote store is too large to be listed, and `look_up` asks it for what matters."""
        return ()

    def look_up(self, records: Sequence[Record]) -> Iterable[tuple[int, Stored]]:
        """List what a remote store had of `records` before the run; nothing for an embedded store."""
        return self._remote.known(records, before=self._started) if self._remote and records else ()

    def example_url(self) -> str | None:
        """Return the URL of a page that is stored, or None if there is none."""
        return next((card.url for card in self._store.scan(Card, limit=1)), None)

    def add(self, record: Record, refused: Callable[[str], None] = _stop) -> None:
        if record.duplicate == "revisit" and not record.text_digest:
            record = self._revisits.filled(record)
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(WaitingRecord(record, refused))
        self._size += bytes_in_memory(record)
        self._revisits.remember(record)
        waited = time.monotonic() - self._since
        if len(self._waiting) >= self._records or self._size >= MAX_BATCH_BYTES or waited >= MAX_BATCH_SECONDS:
            self.write()

    def write(self) -> None:
        """Write the records that wait. A remote store goes on with it in the background; the batch before is stored."""
        self._finish()
        if not self._waiting:
            return
        batch = self._waiting
        self._clear()
        self._revisits.next_batch()
        records = [each.record for each in batch]
        if self._background:
            self._in_hand = batch, self._background.submit(self._store.write, records)
        else:
            self._settle(batch, partial(self._store.write, records))

    def flush(self) -> None:
        """Write all records that wait, and return when they are stored."""
        self.write()
        self._finish()

    def close(self) -> None:
        """Write all records that wait. The store stays open."""
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
        self._since = 0.0

    def _finish(self) -> None:
        """Wait until the batch in the background is stored."""
        if self._in_hand:
            batch, future = self._in_hand
            wait([future])  # if Ctrl-C comes here, the batch is not forgotten
            self._in_hand = None
            self._settle(batch, future.result)

    def _settle(self, batch: Sequence[WaitingRecord], write: Callable[[], Sequence[Written]]) -> None:
        try:
            outcomes = write()
        except StoreError as error:
            least = "at least " if self._remote else ""
            raise StoreError(
                f"{error}; of this run {least}{self.count:,} pages are stored, and the same command goes on from there"
            ) from None
        finally:
            self._revisits.forget_batch()
        for each, written in zip(batch, outcomes, strict=True):
            if written.outcome == "failed":
                each.refused(written.reason)
            else:
                self.count += 1
