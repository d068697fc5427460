"""Parses a period of time as people type it: a year, a month, a day, or a moment."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

DAY = re.compile(r"(\d{4})(?:-?(\d\d)(?:-?(\d\d))?)?", re.ASCII)
MICROSECOND = timedelta(microseconds=1)
EXAMPLES = "2024, 2024-03, 2024-03-01 or 2024-03-01T12:00:00Z"


class TimePeriod(NamedTuple):
    """A half-open interval of time, in UTC."""

    start: datetime
    end: datetime  # the first moment after the period

    @property
    def last(self) -> datetime:
        """The last moment of the period."""
        return self.end - MICROSECOND

    @classmethod
    def of(cls, typed: str) -> TimePeriod:
        """Parse an ISO 8601 year, month, day or time, in UTC unless it has a time zone; else raise ValueError."""
        day = DAY.fullmatch(typed)
        if day is None:
            moment = datetime.fromisoformat(typed)
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
            # A time without a fraction means the whole second.
            return cls(moment, moment + (timedelta(seconds=1) if not moment.microsecond else MICROSECOND))
        year, month, date = (int(part or 0) for part in day.groups())
        start = datetime(year, month or 1, date or 1, tzinfo=UTC)
        if date:
            return cls(start, start + timedelta(days=1))
        months = 12 * year + (month or 12)
        return cls(start, datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC))
