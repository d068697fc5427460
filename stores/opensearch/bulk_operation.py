"""One thing to do to one document, as a bulk request says it; and how much goes into one request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Operation:
    kind: Literal["index", "create", "update", "delete"]
    index: str
    id: str
    source: Mapping[str, Any] | None = None  # of an update: the fields that change

    def lines(self) -> bytes:
        """A ValueError for what no JSON can say: half a surrogate pair, or not a number."""
        action: dict[str, Any] = {"_index": self.index, "_id": self.id}
        if self.kind == "update":
            action["retry_on_conflict"] = 3  # somebody else has changed another field meanwhile
        said = [_json({self.kind: action})]
        if self.kind != "delete":
            said.append(_json({"doc": self.source} if self.kind == "update" else self.source))
        return ("\n".join(said) + "\n").encode()


@dataclass(frozen=True, slots=True)
class Limits:
    """Of a request, of how many there are at a time, and of patience."""

    count: int = 500  # operations
    size: int = 5_000_000  # bytes; one operation that is larger goes alone
    requests: int = 3  # in flight
    answer: float = 60.0  # seconds until a request counts as lost
    patience: float = 120.0  # seconds without any progress
    pause: float = 0.2  # seconds, at most, before the second try; each further one may wait twice as long
    longest_pause: float = 10.0
