"""A proxy in front of the real engine that makes some requests fail, the same ones in every run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from threading import Event, Lock
from typing import Literal, get_args

from tests.stores.opensearch.gateway import Answer, Arrived, Gateway

Fault = Literal[
    "busy",  # 429
    "unavailable",  # 503, from the engine
    "bad gateway",  # 502 from a proxy, after the engine has written
    "reset before",
    "reset after",  # the engine has written
    "timeout after",  # the engine has written
    "half of an answer",  # the engine has written
    "rejected items",  # of some operations of a bulk request, which the engine has not seen
]
FAULTS: tuple[Fault, ...] = get_args(Fault)
# Those that any request can have, without those for which a client waits until its own time limit.
QUICK_FAULTS: tuple[Fault, ...] = tuple(each for each in FAULTS if each not in ("timeout after", "rejected items"))
Choice = Callable[[int, Random], "Fault | None"]  # by the number of the request

KIND = "rejected_execution_exception"
REJECTED = {"status": 429, "error": {"type": KIND, "reason": "rejected execution of coordinating operation"}}


def share(part: float, faults: tuple[Fault, ...] = FAULTS) -> Choice:
    """Return faults for this share of the requests, each kind equally often."""
    return lambda _, random: random.choice(faults) if random.random() < part else None


def is_bulk(arrived: Arrived) -> bool:
    return arrived.path.startswith("/_bulk")


class FaultyProxy(Gateway):
    """The proxy, as a context manager. It spoils the requests that are `meant`, by default bulk requests.

    `requests` counts those that are meant, and `spoiled` the faults.
    """

    def __init__(
        self, engine: str, choose: Choice, *, seed: int = 0, meant: Callable[[Arrived], bool] = is_bulk
    ) -> None:
        super().__init__(engine)
        self._meant = meant
        self.spoiled: Counter[Fault] = Counter()
        self.requests = 0
        self._choose = choose
        self._seed = seed
        self._lock = Lock()
        self._over = Event()

    def answer(self, arrived: Arrived) -> Answer:
        if not self._meant(arrived):
            return super().answer(arrived)
        with self._lock:
            number = self.requests
            self.requests += 1
            random = Random(f"{self._seed} {number}")
            fault = self._choose(number, random)
            if fault:
                self.spoiled[fault] += 1
        return self._spoiled(arrived, fault, random) if fault else super().answer(arrived)

    def _spoiled(self, arrived: Arrived, fault: Fault, random: Random) -> Answer:
        match fault:
            case "busy":
                return _error(429, KIND, "queue is full", retry_after="0.01")
            case "unavailable":
                return _error(503, "cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/2/no master];")
            case "reset before":
                raise ConnectionResetError  # the server closes the connection
            case "rejected items":
                return self._some_rejected(arrived, random)
        answer = super().answer(arrived)
        match fault:
            case "bad gateway":
                return Answer(502, b"<html>502 Bad Gateway</html>", "text/html")
            case "half of an answer":
                return answer._replace(body=answer.body[: len(answer.body) // 2])
            case "timeout after":
                self._over.wait()  # the client disconnects before that
        raise ConnectionResetError

    def _some_rejected(self, arrived: Arrived, random: Random) -> Answer:
        """Reject some operations, pass on the others, and insert the rejections into the engine's answer."""
        operations = _operations(arrived.body)
        rejected = [random.random() < 0.5 for _ in operations]
        items = []
        if not all(rejected):
            rest = [lines for lines, left_out in zip(operations, rejected, strict=True) if not left_out]
            answer = super().answer(Arrived(arrived.method, arrived.path, arrived.headers, b"".join(rest)))
            if answer.status != 200:
                return answer
            items = json.loads(answer.body)["items"]
        taken = iter(items)
        whole = [{"index": REJECTED} if left_out else next(taken) for left_out in rejected]
        return Answer(200, json.dumps({"items": whole}).encode())

    def __exit__(self, *error: object) -> None:
        self._over.set()
        super().__exit__(*error)


def _error(status: int, kind: str, reason: str, retry_after: str = "") -> Answer:
    body = {"error": {"root_cause": [], "type": kind, "reason": reason}, "status": status}
    return Answer(status, json.dumps(body).encode(), retry_after=retry_after)


def _operations(body: bytes) -> list[bytes]:
    """Return the lines of each operation: one for a deletion, otherwise two."""
    lines = iter(body.splitlines(keepends=True))
    return [line if line.startswith(b'{"delete"') else line + next(lines) for line in lines]
