"""The way of a run's records into a store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from opensearch_winnow.mappings.record import Record, Stored
from opensearch_winnow.mappings.record_size import size_of
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.revisits import Revisits
from opensearch_winnow.stores.store import Store, StoreError

# A batch is written when it has so many records, or bytes, or its first record has waited for so many seconds: it is
# what a process that is killed loses. Batches of 250 or 1,000 records took as much time.
RECORDS = 4_000
BYTES = 64_000_000
SECONDS = 10.0


class StoreDestination:
    """Keeps the records of a run in a store, many at a time. Used as a context; the store stays open.

    Left by Ctrl-C or by any exception, it still keeps what was added, if the store can be written.

    A revisit gets the text and hashes of the page that it repeats, if that is stored or came before it.
    """

    def __init__(self, store: Store) -> None:
        self.count = 0  # of records that are written
        self._store = store
        self._revisits = Revisits(store)
        self._clear()

    def stored(self) -> Iterator[Stored] | Path:
        if isinstance(self._store, EmbeddedStore):
            return self._store.path
        return map(Stored.of, self._store.scan())

    def example(self) -> str | None:
        """The URL of a page that is stored."""
        return next((card.url for card in self._store.cards()), None)

    def add(self, record: Record) -> None:
        if record.duplicate == "revisit" and not record.text_digest:
            record = self._revisits.filled(record)
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(record)
        self._size += size_of(record)
        self._revisits.remember(record)
        waited = time.monotonic() - self._since
        if len(self._waiting) >= RECORDS or self._size >= BYTES or waited >= SECONDS:
            self.write()

    def write(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        try:
            failed = [each for each in self._store.write(self._waiting) if each.outcome == "failed"]
        except StoreError as error:
            self._clear()  # it was tried
            raise self._stopped(str(error)) from None
        self.count += len(self._waiting) - len(failed)
        self._clear()
        if failed:
            raise self._stopped(
                f"{self._store.name} has refused {len(failed):,} pages, the first one for {failed[0].reason}"
            )

    close = write

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.write()
        except StoreError:
            if kind is None:  # else what went wrong first is what to say
                raise

    def _clear(self) -> None:
        self._waiting: list[Record] = []
        self._size = 0
        self._since = 0.0
        self._revisits.forget()

    def _stopped(self, reason: str) -> StoreError:
        return StoreError(
            f"{reason}; of this run {self.count:,} pages are stored, and the same command goes on from there"
        )
