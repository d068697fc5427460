"""Finds the pages that revisits, captures without content, repeat."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import NamedTuple

# They stand for an unknown time: the latest where the oldest capture is chosen, the earliest where the last one is.
LATEST_TIME, EARLIEST_TIME = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)

# The digests of an empty body, in hexadecimal and in base32: Heritrix writes one if a server answers "not modified".
EMPTY_DIGESTS = {
    f"{name}:{form.lower()}"
    for name, digest in (
        (name, hashlib.new(name, usedforsecurity=False).digest()) for name in ("md5", "sha1", "sha256")
    )
    for form in (digest.hex(), b32encode(digest).decode())
}


class RepeatableCapture(NamedTuple):
    """The part of a capture that decides which page a revisit repeats."""

    id: str
    url: str
    time: datetime | None
    payload: str  # its digest; empty if it is unknown, or that of an empty body
    text: tuple[str, str | None, str | None]  # copied to a revisit: the digest of the text, title and canonical URL
    repeats: str | None  # the URL that a revisit repeats; None for a page

    @property
    def has_text(self) -> bool:
        return bool(self.text[0])


class RepeatedPages:
    """Finds the pages that revisits repeat, among given captures; a subclass may look up more.

    A revisit repeats the oldest page with its payload digest. If there is none, it repeats the last capture of its URL
    before it, unless their digests differ. If the page was deleted, it repeats another revisit with its digest.
    """

    def __init__(self, captures: Iterable[RepeatableCapture] = ()) -> None:
        self.known = {each.id: each for each in captures}  # stored, or about to be
        self._pages: dict[str, RepeatableCapture | None] = {}  # the oldest page by payload digest; None: there is none
        self._revisits: dict[str, RepeatableCapture | None] = {}  # the oldest revisit with a text, by payload digest
        self._by_url: dict[str, list[tuple[datetime, str]]] = {}  # the times and ids of all captures of a URL, in order
        self._originals: dict[str, str] = {}

    def with_payloads(self, digests: Sequence[str]) -> Iterable[RepeatableCapture]:  # noqa: ARG002
        """Look up all captures with these payload digests."""
        return ()

    def of_urls(self, urls: Sequence[str]) -> Iterable[RepeatableCapture]:  # noqa: ARG002
        """Look up all captures of these URLs."""
        return ()

    def repeating(self, keys: Sequence[str]) -> Iterable[RepeatableCapture]:  # noqa: ARG002
        """Look up the revisits of these payload digests and URLs."""
        return ()

    def originals(self, arrived: Iterable[RepeatableCapture], revisits: Iterable[RepeatableCapture]) -> dict[str, str]:
        """Find the pages whose texts are missing in revisits: {id of the revisit: id of the page}.

        The revisits are `revisits`, revisits that repeat one of the `arrived` captures, and revisits that repeat these.
        """
        while True:
            waiting = {each.id: each for each in (*revisits, *self._repeating(arrived))}
            arrived = self._fill(sorted(waiting.values(), key=_age))
            if not arrived:
                return self._originals
            revisits = ()

    def _repeating(self, captures: Iterable[RepeatableCapture]) -> Iterator[RepeatableCapture]:
        keys = {key for each in captures for key in (each.payload, each.url) if key}
        if keys:
            for found in self.repeating(sorted(keys)):
                self.known.setdefault(found.id, found)
            for each in self.known.values():
                if each.repeats is not None and (each.payload in keys or each.repeats in keys):
                    yield each

    def _fill(self, revisits: Sequence[RepeatableCapture]) -> list[RepeatableCapture]:
        """Find the originals of `revisits`, given oldest first, and return the revisits whose text has changed."""
        self._look_up_payloads(sorted({each.payload for each in revisits if each.payload} - self._pages.keys()))
        by_url = {each.repeats or each.url for each in revisits if self._pages.get(each.payload) is None}
        self._look_up_urls(sorted(by_url - self._by_url.keys()))
        changed = []
        for each in revisits:
            revisit = self.known.setdefault(each.id, each)
            original = (
                self._pages.get(revisit.payload) or self._last_at_url(revisit) or self._revisits.get(revisit.payload)
            )
            if original is not None and original.text != revisit.text:
                self._originals[revisit.id] = self._originals.get(original.id, original.id)
                self.known[revisit.id] = filled = revisit._replace(text=original.text)
                self._add_to_payload(filled)
                changed.append(filled)
        return changed

    def _look_up_payloads(self, digests: Sequence[str]) -> None:
        self._pages |= dict.fromkeys(digests)
        for each in self.known.values():
            self._add_to_payload(each)
        for each in self.with_payloads(digests):  # not noted: there may be many
            self._add_to_payload(self.known.get(each.id) or each)

    def _add_to_payload(self, capture: RepeatableCapture) -> None:
        if not capture.has_text or capture.payload not in self._pages:
            return
        oldest = self._pages if capture.repeats is None else self._revisits
        before = oldest.get(capture.payload)
        if before is None or before.id == capture.id or _age(capture) < _age(before):
            oldest[capture.payload] = capture

    def _look_up_urls(self, urls: Sequence[str]) -> None:
        found: dict[str, set[tuple[datetime, str]]] = {url: set() for url in urls}
        for each in self.of_urls(urls):
            self.known.setdefault(each.id, each)
        for each in self.known.values():
            if each.url in found:
                found[each.url].add((each.time or EARLIEST_TIME, each.id))
        self._by_url |= {url: sorted(captures) for url, captures in found.items()}

    def _last_at_url(self, revisit: RepeatableCapture) -> RepeatableCapture | None:
        """Return the last capture with text that the repeated URL had at the time of `revisit`; None without one."""
        captures = self._by_url.get(revisit.repeats or revisit.url, [])
        end = len(captures) if revisit.time is None else bisect_right(captures, revisit.time, key=itemgetter(0))
        before = (self.known[captures[i][1]] for i in reversed(range(end)))
        last = next((each for each in before if each.has_text and may_repeat(revisit, each)), None)
        return None if last is None or differ(revisit, last) else last


def may_repeat(revisit: RepeatableCapture, capture: RepeatableCapture) -> bool:
    """Return whether `capture` is not later than `revisit`. If it is a revisit, it must be earlier, at a known time."""
    if capture.repeats is None:
        # A capture without a time may be later, which matters only if the revisit has a time.
        return revisit.time is None or (capture.time is not None and capture.time <= revisit.time)
    return capture.time is not None and (revisit.time is None or capture.time < revisit.time)


def differ(revisit: RepeatableCapture, other: RepeatableCapture) -> bool:
    """Return whether two captures have different payload digests of the same kind."""
    if not revisit.payload or not other.payload:
        return False
    kind, _, value = revisit.payload.lower().partition(":")
    other_kind, _, other_value = other.payload.lower().partition(":")
    return kind == other_kind and len(value) == len(other_value) and value != other_value


def known_payload(digest: str | None) -> str:
    """Return a payload digest, or an empty text if it is unknown or that of an empty body."""
    return "" if digest is None or digest.lower() in EMPTY_DIGESTS else digest


def _age(capture: RepeatableCapture) -> tuple[datetime, int, str]:
    """Sort key: the oldest first, as in the order `oldest` of a store."""
    return capture.time or LATEST_TIME, len(capture.url), capture.url
