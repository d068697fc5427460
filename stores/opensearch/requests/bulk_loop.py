"""Composes bulk requests, reads their answers, and schedules retries. Has no clock and no network.

A driver adds operations while the loop `wants_more`, sends each request that it may `take`, passes every answer to
`handle`, and yields the `outcomes`.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple

from opensearch_winnow.stores.opensearch.requests.bulk_errors import Error, Verdict, engine_error, verdict_on
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits, Operation, pause_before
from opensearch_winnow.stores.opensearch.requests.error_reasons import explain_error, shorten
from opensearch_winnow.stores.store import StoreError, WriteOutcome

MAX_TRIES = 5  # to write a document that may itself cause the error
NOT_FOUND = "it does not exist"
CHANGED = "another process changed it at the same time; try again"
REASONS = {"document_missing_exception": NOT_FOUND, "version_conflict_engine_exception": CHANGED}
CURRENT_VERSION = re.compile(r"current version \[(\d+)\]")

Key = tuple[str, str]  # index and id


class BulkResponse(NamedTuple):
    status: int
    body: str
    retry_after: float = 0.0  # seconds


class Lost(NamedTuple):
    """A request without an answer. If `maybe_done`, the engine may have executed it."""

    reason: str
    maybe_done: bool = True


@dataclass(slots=True, eq=False)
class Item:
    """An operation without an outcome so far."""

    number: int
    kind: str
    key: Key
    lines: bytes
    tries: int = 0
    maybe_done: int = 0  # tries without an answer that the engine may have executed


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    items: list[Item]
    sent: float  # time, in seconds

    @property
    def body(self) -> bytes:
        return b"".join(item.lines for item in self.items)

    @property
    def filter_path(self) -> str:
        """The fields to return: as few as possible, to keep the answer small."""
        version = ",items.*._version" if any(item.maybe_done for item in self.items) else ""
        return f"items.*.status,items.*.error{version}"


class BulkLoop:
    """The state of a bulk write: operations to send, to retry and in flight, and outcomes to deliver."""

    def __init__(self, limits: BulkLimits, random: Callable[[], float]) -> None:
        self.in_flight = 0  # requests
        self.broken = ""  # the reason to send nothing more
        self._limits = limits
        self._random = random
        self._size = limits.size  # bytes per request; reduced when the engine answers that a request is too large
        self._fresh: deque[Item] = deque()
        self._fresh_size = 0  # bytes
        self._retries: list[tuple[float, int, list[Item]]] = []  # a heap: due time, number of the first item, items
        # For each document with an operation under way, the operations that wait for it: writes to a document keep
        # their order.
        self._under_way: dict[Key, deque[Item]] = {}
        self._done: dict[int, WriteOutcome] = {}
        self._added = 0
        self._delivered = 0
        self._written = 0
        self._held = 0  # bytes of operations without an outcome
        self._ended = False
        self._resume = 0.0  # time before which nothing is sent
        self._stuck_since: float | None = None

    # --- operations in

    @property
    def wants_more(self) -> bool:
        """True if there is room for another operation: one request may wait besides those in flight."""
        room = self._limits.requests + 1
        return (
            not (self._ended or self.broken)
            and self._added - self._delivered < room * self._limits.count
            and self._held < room * self._limits.size
        )

    def add(self, operation: Operation) -> None:
        item = Item(self._added, operation.kind, (operation.index, operation.id), b"")
        self._added += 1
        try:
            item.lines = operation.lines()
        except ValueError as error:
            self._done[item.number] = WriteOutcome(operation.id, "failed", f"it cannot be written as JSON: {error}")
            return
        self._held += len(item.lines)
        if item.key in self._under_way:
            self._under_way[item.key].append(item)
        else:
            self._under_way[item.key] = deque()
            self._put(item)

    def end(self) -> None:
        """Declare that no more operations will be added."""
        self._ended = True

    # --- requests out

    def take(self, now: float) -> Request | None:
        """Return the next request to send, or None if nothing may be sent now."""
        if self.broken or self.in_flight >= self._limits.requests or now < self._resume:
            return None
        if self._retries and self._retries[0][0] <= now:
            items = heappop(self._retries)[-1]
        elif self._fresh and self._enough():
            items = self._cut()
        else:
            return None
        for item in items:
            item.tries += 1
        self.in_flight += 1
        return Request(items, now)

    def wait(self, now: float) -> float | None:
        """Return the seconds until `take` may return a request; None if it has to wait for an answer."""
        if self.broken or self.in_flight >= self._limits.requests:
            return None
        due = [self._retries[0][0]] if self._retries else []
        if self._fresh and self._enough():
            due.append(now)
        return max(0.0, min(due) - now, self._resume - now) if due else None

    # --- answers in, outcomes out

    def handle(self, request: Request, answer: BulkResponse | Lost, now: float) -> None:
        """Record the answer to a request, and schedule retries."""
        self.in_flight -= 1
        if isinstance(answer, Lost):
            self._handle_lost(request, answer.reason, now, maybe_done=answer.maybe_done)
        elif 200 <= answer.status < 300:
            self._handle_items(request, answer, now)
        else:
            self._handle_refusal(request, answer, now)

    def outcomes(self) -> Iterator[WriteOutcome]:
        """Yield the outcomes known so far, in the order of the operations."""
        while self._delivered in self._done:
            self._delivered += 1
            yield self._done.pop(self._delivered - 1)

    @property
    def finished(self) -> bool:
        """True if no more outcomes will follow those that `outcomes` yields now."""
        return not self.in_flight and (bool(self.broken) or (self._ended and not self._under_way))

    def error(self, name: str) -> StoreError:
        """Return the error of a broken loop, for the store `name`."""
        return StoreError(
            f"{name} cannot be written: {self.broken} ({self._written:,} of {self._added:,} documents are written for"
            " sure; it is safe to write the others again, no document is stored twice)"
        )

    # --- internals

    def _put(self, item: Item) -> None:
        self._fresh.append(item)
        self._fresh_size += len(item.lines)

    def _enough(self) -> bool:
        return len(self._fresh) >= self._limits.count or self._fresh_size >= self._size or not self.wants_more

    def _cut(self) -> list[Item]:
        items: list[Item] = []
        size = 0
        while self._fresh and len(items) < self._limits.count:
            size += len(self._fresh[0].lines)
            if items and size > self._size:
                break
            items.append(self._fresh.popleft())
        self._fresh_size -= sum(len(item.lines) for item in items)
        return items

    def _handle_items(self, request: Request, answer: BulkResponse, now: float) -> None:
        try:
            results = [result for each in json.loads(answer.body)["items"] for result in each.values()]
            if len(results) != len(request.items) or not all(isinstance(each["status"], int) for each in results):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            self._handle_lost(request, "its answer cannot be read", now, maybe_done=True)
            return
        retries: list[Item] = []
        reason = ""
        for item, result in zip(request.items, results, strict=True):
            status, error = result["status"], result.get("error") or {}
            if written := _written(item, result):
                self._finish(item, written)
                continue
            verdict = verdict_on(status, error)
            if verdict is Verdict.FAIL or (verdict is Verdict.RETRY_A_FEW_TIMES and item.tries >= MAX_TRIES):
                self._finish(item, WriteOutcome(item.key[1], "failed", _failure(status, error)))
                continue
            reason = explain_error(error, status)
            if verdict is Verdict.STOP:
                self.broken = reason
            retries.append(item)
        if retries:
            self._retry(retries, request.sent if len(retries) == len(request.items) else now, now, reason)

    def _handle_refusal(self, request: Request, answer: BulkResponse, now: float) -> None:
        """Record that a request was refused as a whole."""
        error = engine_error(answer.body)
        verdict = verdict_on(answer.status, error or {})
        reason = explain_error(error or f"what answers says {shorten(answer.body)!r}", answer.status)
        if verdict is Verdict.FAIL and len(request.items) > 1:  # one item may be the cause: bisect to find it
            if answer.status == 413:
                self._size = min(self._size, sum(len(item.lines) for item in request.items) // 2)
            half = len(request.items) // 2
            for part in (request.items[:half], request.items[half:]):
                heappush(self._retries, (now, part[0].number, part))
        elif verdict is Verdict.FAIL:
            (item,) = request.items
            too_large = "it is larger than the engine accepts (http.max_content_length)"
            self._finish(item, WriteOutcome(item.key[1], "failed", too_large if answer.status == 413 else reason))
        elif verdict is Verdict.STOP or (
            verdict is Verdict.RETRY_A_FEW_TIMES and max(item.tries for item in request.items) >= MAX_TRIES
        ):
            self.broken = reason
        else:
            # A request that the engine itself refused was not executed. If a proxy refused it, it may have been.
            self._count_maybe_done(request.items, error is None)
            self._retry(request.items, request.sent, now, reason, answer.retry_after)

    def _handle_lost(self, request: Request, reason: str, now: float, *, maybe_done: bool) -> None:
        self._count_maybe_done(request.items, maybe_done)
        first = request.items[0]
        # An operation above the size limit is alone in its request, and its size may be why there is no answer. It
        # fails by itself, so that the others go on.
        if len(first.lines) > self._limits.size and self._stuck_too_long(request.sent, now):
            large = f"it has {len(first.lines):,} bytes, which may be too many: {reason}, each time"
            self._finish(first, WriteOutcome(first.key[1], "failed", large))
            return
        self._retry(request.items, request.sent, now, reason)

    def _count_maybe_done(self, items: list[Item], maybe_done: bool) -> None:
        for item in items:
            item.maybe_done += maybe_done

    def _retry(self, items: list[Item], since: float, now: float, reason: str, min_pause: float = 0.0) -> None:
        """Schedule a retry after a pause."""
        limits = self._limits
        if self._stuck_too_long(since, now):
            self.broken = self.broken or reason
        pause = pause_before(max(item.tries for item in items) + 1, limits, self._random)
        min_pause = min(min_pause, limits.give_up_after)
        self._resume = max(self._resume, now + min_pause)
        heappush(self._retries, (now + max(pause, min_pause), items[0].number, items))

    def _stuck_too_long(self, since: float, now: float) -> bool:
        """Record that nothing has succeeded since `since`, and return whether it is time to give up."""
        self._stuck_since = since if self._stuck_since is None else min(self._stuck_since, since)
        return now - self._stuck_since >= self._limits.give_up_after

    def _finish(self, item: Item, written: WriteOutcome) -> None:
        self._stuck_since = None
        self._done[item.number] = written
        self._written += written.outcome != "failed"
        self._held -= len(item.lines)
        if waiting := self._under_way[item.key]:
            self._put(waiting.popleft())
        else:
            del self._under_way[item.key]


def _written(item: Item, result: Mapping[str, Any]) -> WriteOutcome | None:
    """Return the outcome of an operation that succeeded; None if it was refused.

    An earlier try without an answer may have been executed: then this try finds the document that it wrote. A version
    that is no higher than the number of these tries shows that the document did not exist before them.
    """
    status, (_, name) = result["status"], item.key
    done: Literal["added", "replaced"] = "added" if status == 201 else "replaced"
    only_ours = bool(item.maybe_done) and result.get("_version", 0) <= item.maybe_done + 1
    match item.kind, status:
        case "index", 200 if only_ours:
            return WriteOutcome(name, "added")
        case "create", 409 if item.maybe_done and _current_version(result) == 1:
            return WriteOutcome(name, "added")
        case "delete", 404 if not result.get("error"):
            return (
                WriteOutcome(name, "replaced")
                if item.maybe_done and not only_ours
                else WriteOutcome(name, "failed", NOT_FOUND)
            )
        case _, status if 200 <= status < 300:
            return WriteOutcome(name, done)
    return None


def _current_version(result: Mapping[str, Any]) -> int:
    version = CURRENT_VERSION.search(str(result.get("error")))
    return int(version[1]) if version else 0


def _failure(status: int, error: Error) -> str:
    return REASONS.get(str(error.get("type"))) or explain_error(error, status)
