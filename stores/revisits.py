"""A revisit gets the text and hashes of the page that it repeats: it has no content of its own."""

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

# Digests of no bytes at all, in both ways to write them: Heritrix has one where a server said "not modified".
OF_NOTHING = {
    f"{name}:{form.lower()}"
    for name, digest in (
        (name, hashlib.new(name, usedforsecurity=False).digest()) for name in ("md5", "sha1", "sha256")
    )
    for form in (digest.hex(), b32encode(digest).decode())
}


class Batch:
    """Records that wait to be stored."""

    def __init__(self) -> None:
        self.by_url: defaultdict[str, list[Record]] = defaultdict(list)
        self.by_payload: dict[str, Record] = {}


class Revisits:
    """Knows what is stored, and what waits for it in batches."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._batches = deque([Batch()])

    def remember(self, record: Record) -> None:
        """A record of the last batch."""
        if record.text_digest:
            self._batches[-1].by_url[record.url].append(record)
            if record.payload_digest:
                self._batches[-1].by_payload.setdefault(record.payload_digest, record)

    def next_batch(self) -> None:
        self._batches.append(Batch())

    def forget_batch(self) -> None:
        """The first batch is stored."""
        self._batches.popleft()

    def filled(self, revisit: Record) -> Record:
        """With text and hashes, if the page is stored or waits.

        The content digest stays empty, as it came: so another run finds it unchanged.
        """
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
        """The page with the same payload; or what was there at that time, which is all that some revisits tell."""
        digest = revisit.payload_digest
        if digest and digest.lower() not in OF_NOTHING:
            stored = self._with_payload(digest)
            waiting = (batch.by_payload.get(digest) for batch in self._batches)
            found = stored or next(filter(None, waiting), None)
            if found:
                return found
        there = self._there(revisit.duplicate_of or revisit.url, revisit)
        return None if there is None or _differ(digest, there.payload_digest) else there

    def _with_payload(self, digest: str) -> Record | None:
        """Read the first stored page that came with this payload and has a text; a revisit has none of its own."""
        cards = self._store.scan(Card, Selection(payload_digest=digest))
        first = next((card.id for card in cards if card.text_digest), None)
        return None if first is None else self._store.read([first], Record).get(first)

    def _there(self, url: str, revisit: Record) -> Record | None:
        """The last capture of a URL that is not after the revisit, and has been read."""
        waiting = {each.id: each for batch in self._batches for each in batch.by_url.get(url, ())}
        times = {card.id: card.fetched_at for card in captures(self._store, url) if card.text_digest}
        times |= {id_: each.fetched_at for id_, each in waiting.items()}
        at = revisit.fetched_at
        known = [(time, id_) for id_, time in times.items() if time is not None and (at is None or time <= at)]
        # Of a capture without a time it is not known whether it was before, unless that is not asked.
        unknown = [id_ for id_, time in times.items() if time is None and at is None]
        last = max(known)[1] if known else max(unknown, default=None)
        return None if last is None else waiting.get(last) or self._store.read([last], Record).get(last)


def _differ(digest: str | None, other: str | None) -> bool:
    """Whether two payloads are known to be different: in digests that are written in the same way."""
    if not digest or not other or {digest.lower(), other.lower()} & OF_NOTHING:
        return False
    kind, _, value = digest.lower().partition(":")
    other_kind, _, other_value = other.lower().partition(":")
    return kind == other_kind and len(value) == len(other_value) and value != other_value
