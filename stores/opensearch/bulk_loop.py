"""What goes into which bulk request, what its answer means, and what is sent again when: without clock or network.

A driver feeds it while it is `hungry`, sends what it may `take`, lets it `hear` each answer, and passes on `outcomes`.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple

from opensearch_winnow.stores.opensearch.bulk_faults import Error, Fate, engine_error, fate
from opensearch_winnow.stores.opensearch.bulk_operation import Limits, Operation
from opensearch_winnow.stores.opensearch.refusals import reason_of, short
from opensearch_winnow.stores.store import StoreError, Written

A_FEW = 5  # tries of what may be the document's own fault
NOT_THERE = "it is not there"
CURRENT_VERSION = re.compile(r"current version \[(\d+)\]")

Key = tuple[str, str]  # index and id


class Answer(NamedTuple):
    status: int
    body: str
    retry_after: float = 0.0  # seconds


class Lost(NamedTuple):
    """No answer. Where it is `unsure`, the engine may have done what it was asked for."""

    reason: str
    unsure: bool = True


@dataclass(slots=True, eq=False)
class Item:
    """An operation on its way."""

    number: int
    kind: str
    key: Key
    lines: bytes
    tries: int = 0
    unsure: int = 0  # tries that may have been done


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    items: list[Item]
    sent: float

    @property
    def body(self) -> bytes:
        return b"".join(item.lines for item in self.items)

    @property
    def filter_path(self) -> str:
        """What its answer shall hold: little."""
        version = ",items.*._version" if any(item.unsure for item in self.items) else ""
        return f"items.*.status,items.*.error{version}"


class BulkLoop:
    def __init__(self, limits: Limits, random: Callable[[], float]) -> None:
        self.flying = 0  # requests
        self.broken = ""  # why nothing more is sent
        self._limits = limits
        self._random = random
        self._size = limits.size  # less once the engine has said that it is too much
        self._fresh: deque[Item] = deque()
        self._fresh_size = 0
        self._again: list[tuple[float, int, list[Item]]] = []  # a heap: when, which first, what
        # By the id of one that is under way those that wait for it: writes to one document keep their order.
        self._under_way: dict[Key, deque[Item]] = {}
        self._done: dict[int, Written] = {}
        self._added = 0
        self._delivered = 0
        self._written = 0
        self._held = 0  # bytes
        self._ended = False
        self._resume = 0.0  # not before
        self._stuck_since: float | None = None

    # --- what comes in

    @property
    def hungry(self) -> bool:
        """Whether there is room: for as many requests as may be in flight, and one more."""
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
            self._done[item.number] = Written(operation.id, "failed", f"it cannot be written as JSON: {error}")
            return
        self._held += len(item.lines)
        if item.key in self._under_way:
            self._under_way[item.key].append(item)
        else:
            self._under_way[item.key] = deque()
            self._put(item)

    def end(self) -> None:
        """No more will come."""
        self._ended = True

    # --- what goes out

    def take(self, now: float) -> Request | None:
        """What may be sent now."""
        if self.broken or self.flying >= self._limits.requests or now < self._resume:
            return None
        if self._again and self._again[0][0] <= now:
            items = heappop(self._again)[-1]
        elif self._fresh and self._enough():
            items = self._cut()
        else:
            return None
        for item in items:
            item.tries += 1
        self.flying += 1
        return Request(items, now)

    def wait(self, now: float) -> float | None:
        """Seconds until there may be something to take; None if only an answer can change that."""
        if self.broken or self.flying >= self._limits.requests:
            return None
        due = [self._again[0][0]] if self._again else []
        if self._fresh and self._enough():
            due.append(now)
        return max(0.0, min(due) - now, self._resume - now) if due else None

    # --- what has become of it

    def hear(self, request: Request, answer: Answer | Lost, now: float) -> None:
        self.flying -= 1
        if isinstance(answer, Lost):
            self._lost(request, answer.reason, now, unsure=answer.unsure)
        elif 200 <= answer.status < 300:
            self._hear_items(request, answer, now)
        else:
            self._hear_refusal(request, answer, now)

    def outcomes(self) -> Iterator[Written]:
        """Those that are known by now, in the order of the operations."""
        while self._delivered in self._done:
            self._delivered += 1
            yield self._done.pop(self._delivered - 1)

    @property
    def finished(self) -> bool:
        """Whether no more outcomes will come than `outcomes` has now."""
        return not self.flying and (bool(self.broken) or (self._ended and not self._under_way))

    def error(self, name: str) -> StoreError:
        """Of a loop that is broken."""
        return StoreError(
            f"{name} cannot be written: {self.broken} ({self._written:,} of {self._added:,} documents are written for"
            " sure; the others can be written again, none gets there twice)"
        )

    # --- inside

    def _put(self, item: Item) -> None:
        self._fresh.append(item)
        self._fresh_size += len(item.lines)

    def _enough(self) -> bool:
        return len(self._fresh) >= self._limits.count or self._fresh_size >= self._size or not self.hungry

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

    def _hear_items(self, request: Request, answer: Answer, now: float) -> None:
        try:
            results = [result for each in json.loads(answer.body)["items"] for result in each.values()]
            if len(results) != len(request.items) or not all(isinstance(each["status"], int) for each in results):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            self._lost(request, "its answer cannot be read", now, unsure=True)
            return
        again: list[Item] = []
        why = ""
        for item, result in zip(request.items, results, strict=True):
            status, error = result["status"], result.get("error") or {}
            if written := _written(item, result):
                self._finish(item, written)
                continue
            what = fate(status, error)
            if what is Fate.FAILED or (what is Fate.A_FEW_TIMES and item.tries >= A_FEW):
                self._finish(item, Written(item.key[1], "failed", _failure(status, error)))
                continue
            why = reason_of(error, status)
            if what is Fate.STOP:
                self.broken = why
            again.append(item)
        if again:
            self._repeat(again, request.sent if len(again) == len(request.items) else now, now, why)

    def _hear_refusal(self, request: Request, answer: Answer, now: float) -> None:
        """Of a request as a whole."""
        error = engine_error(answer.body)
        what = fate(answer.status, error or {})
        why = reason_of(error or f"what answers says {short(answer.body)!r}", answer.status)
        if what is Fate.FAILED and len(request.items) > 1:  # one of them may be to blame: look for it
            if answer.status == 413:
                self._size = min(self._size, sum(len(item.lines) for item in request.items) // 2)
            half = len(request.items) // 2
            for part in (request.items[:half], request.items[half:]):
                heappush(self._again, (now, part[0].number, part))
        elif what is Fate.FAILED:
            (item,) = request.items
            too_large = "it is larger than the engine takes (http.max_content_length)"
            self._finish(item, Written(item.key[1], "failed", too_large if answer.status == 413 else why))
        elif what is Fate.STOP or (what is Fate.A_FEW_TIMES and max(item.tries for item in request.items) >= A_FEW):
            self.broken = why
        else:
            # What the engine itself refuses it has not done.
            self._unsure(request.items, error is None)
            self._repeat(request.items, request.sent, now, why, answer.retry_after)

    def _lost(self, request: Request, reason: str, now: float, *, unsure: bool) -> None:
        self._unsure(request.items, unsure)
        first = request.items[0]
        # One that is larger than a request should be is alone, and may be the reason itself: the others shall go on.
        if len(first.lines) > self._limits.size and self._out_of_patience(request.sent, now):
            large = f"it has {len(first.lines):,} bytes, which may be too many: {reason}, each time"
            self._finish(first, Written(first.key[1], "failed", large))
            return
        self._repeat(request.items, request.sent, now, reason)

    def _unsure(self, items: list[Item], unsure: bool) -> None:
        for item in items:
            item.unsure += unsure

    def _repeat(self, items: list[Item], since: float, now: float, why: str, at_least: float = 0.0) -> None:
        """Later: anywhere up to a bound that doubles, so that what was refused together does not return together."""
        limits = self._limits
        if self._out_of_patience(since, now):
            self.broken = self.broken or why
        doublings = min(max(item.tries for item in items) - 1, 30)
        pause = self._random() * min(limits.longest_pause, limits.pause * 2**doublings)
        at_least = min(at_least, limits.patience)
        self._resume = max(self._resume, now + at_least)
        heappush(self._again, (now + max(pause, at_least), items[0].number, items))

    def _out_of_patience(self, since: float, now: float) -> bool:
        """Given that something has not worked since then."""
        self._stuck_since = since if self._stuck_since is None else min(self._stuck_since, since)
        return now - self._stuck_since >= self._limits.patience

    def _finish(self, item: Item, written: Written) -> None:
        self._stuck_since = None
        self._done[item.number] = written
        self._written += written.outcome != "failed"
        self._held -= len(item.lines)
        if waiting := self._under_way[item.key]:
            self._put(waiting.popleft())
        else:
            del self._under_way[item.key]


def _written(item: Item, result: Mapping[str, Any]) -> Written | None:
    """None if it was refused.

    A try that got no answer may have been done; then this one finds what it has left. A version that is no higher
    than those tries can have made it tells that there was nothing before them.
    """
    status, (_, name) = result["status"], item.key
    done: Literal["added", "replaced"] = "added" if status == 201 else "replaced"
    only_ours = bool(item.unsure) and result.get("_version", 0) <= item.unsure + 1
    match item.kind, status:
        case "index", 200 if only_ours:
            return Written(name, "added")
        case "create", 409 if item.unsure and _current_version(result) == 1:
            return Written(name, "added")
        case "delete", 404 if not result.get("error"):
            return Written(name, "replaced") if item.unsure and not only_ours else Written(name, "failed", NOT_THERE)
        case _, status if 200 <= status < 300:
            return Written(name, done)
    return None


def _current_version(result: Mapping[str, Any]) -> int:
    found = CURRENT_VERSION.search(str(result.get("error")))
    return int(found[1]) if found else 0


def _failure(status: int, error: Error) -> str:
    return NOT_THERE if error.get("type") == "document_missing_exception" else reason_of(error, status)
