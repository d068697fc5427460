"""What an engine's error means for what was sent: again, failed, or no further."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any

AGAIN = (408, 429, 502, 503, 504)
REFUSED_ALONE = (400, 409, 413)  # it is about what was sent, not about the index
NO_PLACE = ("index_not_found_exception", "index_closed_exception")
CLOSED_TO_WRITES = "FORBIDDEN/8/"  # as while an index is migrated; it stands in the reason alone

Error = Mapping[str, Any]


class Fate(Enum):
    AGAIN = auto()  # until patience ends
    A_FEW_TIMES = auto()  # it may be the document's fault
    FAILED = auto()
    STOP = auto()  # the next one would fare no better


def fate(status: int, error: Error) -> Fate:
    """Of something that was refused."""
    if error.get("type") == "cluster_block_exception":
        # A full disk has its own number, and may have the status of a busy engine.
        return Fate.AGAIN if CLOSED_TO_WRITES in str(error.get("reason")) or status == 503 else Fate.STOP
    if error.get("type") in NO_PLACE:
        return Fate.STOP
    if status in AGAIN:
        return Fate.AGAIN
    if status == 500:
        return Fate.A_FEW_TIMES
    missing = error.get("type") == "document_missing_exception"
    return Fate.FAILED if status in REFUSED_ALONE or missing else Fate.STOP


def engine_error(body: str) -> Error | None:
    """The error in an answer, or None if it is not from the engine: something between us has given it."""
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    error = answer.get("error") if isinstance(answer, dict) else None
    return error if isinstance(error, dict) else {"reason": error} if isinstance(error, str) else None


def seconds(retry_after: str | None, wall_clock: float) -> float:
    """What a Retry-After header asks for: seconds, or a date."""
    if not retry_after:
        return 0.0
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - wall_clock)
    except ValueError:
        return 0.0
