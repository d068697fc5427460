"""The operations of bulk requests, and the limits of sending them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Operation:
    """One change to one document."""

    kind: Literal["index", "create", "update", "script", "delete"]
    index: str
    id: str
    source: Mapping[str, Any] | None = None  # the document; for an update, only the fields that change; or a script
    routing: str | None = None
    only_if: tuple[int, int] | None = None  # the sequence number and primary term that the document must have

    def lines(self) -> bytes:
        """Return the lines of this operation in a bulk request.

        Raises ValueError if JSON cannot express the source: it holds half a surrogate pair, or NaN or infinity.
        """
        action: dict[str, Any] = {"_index": self.index, "_id": self.id}
        updates = self.kind in ("update", "script")
        if self.routing is not None:
            action["routing"] = self.routing
        if self.only_if is not None:
            action["if_seq_no"], action["if_primary_term"] = self.only_if
        elif updates:
            action["retry_on_conflict"] = 3  # another writer may have changed another field in the meantime
        lines = [_json({"update" if updates else self.kind: action})]
        if self.kind != "delete":
            lines.append(_json({"doc" if self.kind == "update" else "script": self.source} if updates else self.source))
        return ("\n".join(lines) + "\n").encode()


@dataclass(frozen=True, slots=True)
class BulkLimits:
    """The limits of bulk requests: their size, the number in flight, and the time to retry."""

    count: int = 500  # maximum operations per request
    size: int = 5_000_000  # maximum bytes per request; a larger operation is sent in a request of its own
    requests: int = 3  # maximum requests in flight
    request_timeout: float = 60.0  # seconds until an unanswered request counts as lost
    give_up_after: float = 120.0  # seconds without any progress
    retry_pause: float = 0.2  # maximum seconds before the second try; the maximum doubles with each further try
    max_retry_pause: float = 10.0  # seconds; the maximum never grows beyond this


def pause_before(number: int, limits: BulkLimits, random: Callable[[], float]) -> float:
    """Return the seconds to wait before try `number`, from 2: random, with a maximum that doubles each time.

    So requests that were refused together spread out.
    """
    return random() * min(limits.max_retry_pause, limits.retry_pause * 2.0 ** min(number - 2, 30))
