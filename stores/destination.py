"""The way of a run's records into a store."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from opensearch_winnow.mappings.record import Record, Stored
from opensearch_winnow.mappings.record_size import size_of
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import Store, StoreError

# A batch is written when it has so many records, or bytes, or its first record has waited for so many seconds: it is
# what a process that is killed loses. Small enough that the workers, who wait meanwhile, are not kept from their work.
RECORDS = 4_000
BYTES = 64_000_000
SECONDS = 10.0


class StoreDestination:
    """Keeps the records of a run in a store, many at a time. Used as a context; the store stays open.

    Left by Ctrl-C or by any exception, it still keeps what was added, if the store can be written.

    A revisit, which has no content of its own, gets the text and hashes of the page that it repeats, if that is stored
    or came before it. Its content digest stays empty, as it came: so another run finds it unchanged.
    """

    def __init__(self, store: Store) -> None:
        self.count = 0  # of records that are written
        self._store = store
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
            record = self._filled(record)
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(record)
        self._size += size_of(record)
        self._by_url[record.url].append(record)
        if record.payload_digest and record.text_digest:
            self._by_payload.setdefault(record.payload_digest, record)
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
        self._by_url: defaultdict[str, list[Record]] = defaultdict(list)
        self._by_payload: dict[str, Record] = {}

    def _stopped(self, reason: str) -> StoreError:
        return StoreError(
            f"{reason}; of this run {self.count:,} pages are stored, and the same command goes on from there"
        )

    def _filled(self, revisit: Record) -> Record:
        before = self._repeated(revisit)
        if before is None:
            return revisit
        return replace(
            revisit,
            title=revisit.title or before.title,
            text=before.text,
            text_digest=before.text_digest,
            shingle_digest=before.shingle_digest,
            fingerprints=before.fingerprints,
            positions=before.positions,
            shingle_count=before.shingle_count,
            sketch=before.sketch,
            minhash=before.minhash,
            bands=before.bands,
        )

    def _repeated(self, revisit: Record) -> Record | None:
        """The page with the same payload; or what was there at that URL at that time, which is all that some say."""
        digest = revisit.payload_digest
        if digest:
            id_ = self._store.with_payload(digest)
            found = self._store.get([id_]).get(id_) if id_ else self._by_payload.get(digest)
            if found:
                return found
        return self._at_that_time(revisit.duplicate_of or revisit.url, revisit)

    def _at_that_time(self, url: str, revisit: Record) -> Record | None:
        """The last capture of a URL that is not after the revisit, and has a text."""
        # By their times; where there is none, they come first. What waits is newer than what is stored under its id.
        waiting = {each.id: each for each in self._by_url.get(url, ()) if each.text_digest}
        times = {card.id: card.fetched_at for card in self._store.captures(url) if card.text_digest}
        times |= {id_: each.fetched_at for id_, each in waiting.items()}
        if revisit.fetched_at is None:
            possible = list(times.items())
        else:
            possible = [(id_, at) for id_, at in times.items() if at is not None and at <= revisit.fetched_at]
        if not possible:
            return None
        last, _ = max(possible, key=lambda item: (item[1] is not None, item[1], item[0]))
        return waiting.get(last) or self._store.get([last]).get(last)
