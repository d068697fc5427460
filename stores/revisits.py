"""Fills in revisits, captures without content, with the text and hashes of the page that they repeat."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections import defaultdict, deque
from dataclasses import replace

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.filters import Selection
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.store import Store

# The digests of an empty body, in hexadecimal and in base32: Heritrix writes one if a server answers "not modified".
EMPTY_DIGESTS = {
    f"{name}:{form.lower()}"
    for name, digest in (
        (name, hashlib.new(name, usedforsecurity=False).digest()) for name in ("md5", "sha1", "sha256")
    )
    for form in (digest.hex(), b32encode(digest).decode())
}


class Batch:
    """The records of a batch that waits to be stored."""

    def __init__(self) -> None:
        self.by_url: defaultdict[str, list[Record]] = defaultdict(list)
        self.by_payload: dict[str, Record] = {}


class Revisits:
    """Finds the pages that revisits repeat, in the store and in the batches that wait to be stored."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._batches = deque([Batch()])

    def remember(self, record: Record) -> None:
        """Add a record to the last batch."""
        if record.text_digest:
            self._batches[-1].by_url[record.url].append(record)
            if record.payload_digest:
                self._batches[-1].by_payload.setdefault(record.payload_digest, record)

    def next_batch(self) -> None:
        self._batches.append(Batch())

    def forget_batch(self) -> None:
        """Drop the first batch, which is stored now."""
        self._batches.popleft()

    def fill(self, revisit: Record) -> Record:
        """Return `revisit` with the text and hashes of the page that it repeats, if that is stored or waits.

        The content digest stays empty, so that the next run finds the revisit unchanged.
        """
        original = self._original_of(revisit)
        if original is None:
            return revisit
        return replace(
            revisit,
            title=revisit.title or original.title,
            text=original.text,
            text_digest=original.text_digest,
            shingle_digest=original.shingle_digest,
            fingerprints=original.fingerprints,
            positions=original.positions,
            shingle_count=original.shingle_count,
            sketch=original.sketch,
            minhash=original.minhash,
            bands=original.bands,
            canonical=revisit.canonical or original.canonical,
        )

    def _original_of(self, revisit: Record) -> Record | None:
        """Return the page with the payload digest of `revisit`, or else the capture of its URL at that time."""
        digest = revisit.payload_digest
        if digest and digest.lower() not in EMPTY_DIGESTS:
            stored = self._with_payload(digest)
            waiting = (batch.by_payload.get(digest) for batch in self._batches)
            same = stored or next(filter(None, waiting), None)
            if same:
                return same
        capture = self._capture_at(revisit.duplicate_of or revisit.url, revisit)
        return None if capture is None or _differ(digest, capture.payload_digest) else capture

    def _with_payload(self, digest: str) -> Record | None:
        """Read the first stored page with this payload and a text, which a revisit does not have."""
        cards = self._store.scan(Card, Selection(payload_digest=digest))
        first = next((card.id for card in cards if card.text_digest), None)
        return None if first is None else self._store.read([first], Record).get(first)

    def _capture_at(self, url: str, revisit: Record) -> Record | None:
        """Return the last capture of `url` that is not later than the revisit and has a text."""
        waiting = {each.id: each for batch in self._batches for each in batch.by_url.get(url, ())}
        times = {card.id: card.fetched_at for card in captures(self._store, url) if card.text_digest}
        times |= {id_: each.fetched_at for id_, each in waiting.items()}
        at = revisit.fetched_at
        known = [(time, id_) for id_, time in times.items() if time is not None and (at is None or time <= at)]
        # A capture without a time may be later, which matters only if the revisit has a time.
        unknown = [id_ for id_, time in times.items() if time is None and at is None]
        last = max(known)[1] if known else max(unknown, default=None)
        return None if last is None else waiting.get(last) or self._store.read([last], Record).get(last)


def _differ(digest: str | None, other: str | None) -> bool:
    """Whether two payload digests of the same kind show that the payloads differ."""
    if not digest or not other or {digest.lower(), other.lower()} & EMPTY_DIGESTS:
        return False
    kind, _, value = digest.lower().partition(":")
    other_kind, _, other_value = other.lower().partition(":")
    return kind == other_kind and len(value) == len(other_value) and value != other_value
