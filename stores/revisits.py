"""Writes records to a store, and gives revisits (captures without content) the text of the pages that they repeat.

The order of indexing does not matter: a revisit is filled in when it is written, and again when a page arrives that it
repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opensearch_winnow.foundation.batches import batches, batches_by_size
from opensearch_winnow.mappings.card import CaptureEntry
from opensearch_winnow.mappings.record import Record, bytes_in_memory, with_text_of
from opensearch_winnow.mappings.repeated_pages import (
    RepeatableCapture,
    RepeatedPages,
    differ,
    known_payload,
    may_repeat,
)
from opensearch_winnow.queries.filters import MAX_URLS, Selection
from opensearch_winnow.stores.store import Store, WriteOutcome

MAX_WRITE_BYTES = 64_000_000  # of records in memory: revisits grow when they get their texts


class Revisits:
    """Writes records to a store; fills in the revisits among them and the stored revisits that repeat one of them."""

    def __init__(self, store: Store) -> None:
        self.unfilled: set[str] = set()  # the ids of written revisits whose page is not stored yet
        self._store = store

    def write(self, records: Sequence[Record]) -> list[tuple[Record, WriteOutcome]]:
        """Write `records` and return them as they were written, with their outcomes."""
        new = {record.id: record for record in records}
        captures = [_of_record(record) for record in new.values()]
        arrived = [each for each in captures if each.has_text]
        waiting = [each for each in captures if each.repeats is not None and not each.has_text]
        originals = StoredRepeatedPages(self._store, captures).originals(arrived, waiting)
        # Stored revisits come first: if the process is killed in between, the next run adds the missing records.
        self._fill_stored(originals, new)
        written: list[tuple[Record, WriteOutcome]] = []
        filled = (self._filled(each, originals.get(each.id), new) for each in records)
        for some in _write_batches(filled):
            written += zip(some, self._store.write(some), strict=True)
        stored = [record for record, outcome in written if outcome.outcome in ("added", "replaced")]
        self.unfilled |= {each.id for each in stored if each.duplicate == "revisit" and not each.hashes.text_digest}
        # Another run may have written the repeated page meanwhile. The run that looks last, after writing, sees both.
        waiting = [each for each in waiting if each.id in self.unfilled]
        self._fill_stored(StoredRepeatedPages(self._store).originals(arrived, waiting), {})
        return written

    def _fill_stored(self, originals: dict[str, str], new: dict[str, Record]) -> None:
        """Set the texts of stored revisits, given by id, to those of their originals."""
        ids = [id_ for id_ in originals if id_ not in new]
        for ids_of_batch in batches(ids, MAX_URLS):
            stored = self._store.read(ids_of_batch, Record)
            for some in _write_batches(self._filled(each, originals[each.id], new) for each in stored.values()):
                self._store.set_texts(some)
                self.unfilled -= {record.id for record in some if record.hashes.text_digest}

    def _filled(self, record: Record, original_id: str | None, new: dict[str, Record]) -> Record:
        if original_id is None:
            return record
        original = new.get(original_id) or self._store.read([original_id], Record).get(original_id)
        if original is None:  # deleted meanwhile
            return record
        # The content digest stays empty, so that the next run finds the revisit unchanged.
        return with_text_of(record, original)


class StoredRepeatedPages(RepeatedPages):
    """Finds the pages that revisits repeat in a store, and among `new` captures that are about to be written."""

    def __init__(self, store: Store, new: Iterable[RepeatableCapture] = ()) -> None:
        super().__init__(new)
        self._store = store

    def with_payloads(self, digests: Sequence[str]) -> Iterator[RepeatableCapture]:
        for some in batches(digests, MAX_URLS):
            yield from self._captures(Selection(payload_digests=tuple(some)))

    def of_urls(self, urls: Sequence[str]) -> Iterator[RepeatableCapture]:
        for some in batches(urls, MAX_URLS):
            yield from self._captures(Selection(urls=tuple(some)))

    def repeating(self, keys: Sequence[str]) -> Iterator[RepeatableCapture]:
        return self._captures(Selection(repeats=tuple(keys)))

    def _captures(self, where: Selection) -> Iterator[RepeatableCapture]:
        return map(_of_entry, self._store.scan(CaptureEntry, where))


def is_revisit(entry: CaptureEntry) -> bool:
    """Return whether the record of an archive that a capture was indexed from is a revisit."""
    return entry.source is not None and entry.source.record_type == "revisit"


def original_of(store: Store, revisit: CaptureEntry) -> CaptureEntry | None:
    """Return the capture whose record in an archive a revisit repeats, or None if the store does not have it."""
    wanted = _of_entry(revisit)
    if wanted.payload:
        same = store.scan(CaptureEntry, Selection(payload_digests=(wanted.payload,)))
        found = next((each for each in same if each.source is not None and not is_revisit(each)), None)
        if found is not None:
            return found
    captures = store.scan(CaptureEntry, Selection(url=wanted.repeats or wanted.url), order="newest")
    known = (each for each in captures if each.source is not None and not is_revisit(each))
    last = next((each for each in known if may_repeat(wanted, _of_entry(each))), None)
    return None if last is None or differ(wanted, _of_entry(last)) else last


def _write_batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    return batches_by_size(records, bytes_in_memory, MAX_WRITE_BYTES)


def _of_record(record: Record) -> RepeatableCapture:
    text = record.hashes.text_digest, record.title, record.canonical
    repeats = (record.duplicate_of or record.url) if record.duplicate == "revisit" else None
    return RepeatableCapture(
        record.id, record.url, record.fetched_at, known_payload(record.payload_digest), text, repeats
    )


def _of_entry(entry: CaptureEntry) -> RepeatableCapture:
    card = entry.card
    text = card.text_digest, card.title, card.canonical
    repeats = (card.duplicate_of or card.url) if card.duplicate == "revisit" else None
    return RepeatableCapture(card.id, card.url, card.fetched_at, known_payload(entry.payload_digest), text, repeats)
