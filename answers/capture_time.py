"""When a page was captured, as people and as programs read it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Capture(Protocol):
    @property
    def fetched_at(self) -> datetime | None: ...


def day(capture: Capture) -> str:
    return "" if capture.fetched_at is None else f"{capture.fetched_at:%Y-%m-%d}"


def time_stamp(capture: Capture) -> str | None:
    """As in the documents of records."""
    return None if capture.fetched_at is None else capture.fetched_at.isoformat().replace("+00:00", "Z")
