"""Decides about operations after an engine's error: retry, fail, or stop sending."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any

from opensearch_winnow.stores.opensearch.requests.error_reasons import is_unavailable

RETRY_STATUSES = (408, 429, 502, 503, 504)
DOCUMENT_STATUSES = (400, 409, 413)  # the error concerns the document or request, not the index
NO_INDEX_ERRORS = ("index_not_found_exception", "index_closed_exception")
WRITE_BLOCK = "FORBIDDEN/8/"  # set while an index is migrated; only the error's reason mentions it

Error = Mapping[str, Any]


class Verdict(Enum):
    """The decision about an operation that the engine did not accept."""

    RETRY = auto()  # until `BulkLimits.give_up_after`
    RETRY_A_FEW_TIMES = auto()  # the document itself may cause the error
    FAIL = auto()
    STOP = auto()  # every further operation would fail in the same way


def verdict_on(status: int, error: Error) -> Verdict:
    """Return the verdict on an operation that was refused with this HTTP status and error."""
    if error.get("type") == "cluster_block_exception":
        # The block for a full disk has another number, but can have the same status as a busy engine.
        return Verdict.RETRY if WRITE_BLOCK in str(error.get("reason")) or status == 503 else Verdict.STOP
    if error.get("type") in NO_INDEX_ERRORS:
        return Verdict.STOP
    if status in RETRY_STATUSES or is_unavailable(error):
        return Verdict.RETRY
    if status == 500:
        return Verdict.RETRY_A_FEW_TIMES
    missing = error.get("type") == "document_missing_exception"
    return Verdict.FAIL if status in DOCUMENT_STATUSES or missing else Verdict.STOP


def engine_error(body: str) -> Error | None:
    """Return the error in an answer, or None if a proxy answered instead of the engine."""
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    error = answer.get("error") if isinstance(answer, dict) else None
    return error if isinstance(error, dict) else {"reason": error} if isinstance(error, str) else None


def retry_after_seconds(header: str | None, wall_clock: float) -> float:
    """Return the seconds to wait that a Retry-After header asks for, as a number or a date; 0 without one."""
    if not header:
        return 0.0
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - wall_clock)
    except ValueError:
        return 0.0
