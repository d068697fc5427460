"""Writes times for programs."""

from __future__ import annotations

from datetime import datetime


def written_time(time: datetime) -> str:
    """Return a time in UTC as documents have it: ISO 8601, with Z."""
    return time.isoformat().replace("+00:00", "Z")
