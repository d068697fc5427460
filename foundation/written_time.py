"""Writes times for programs, and tells which times cannot be right."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

CLOCK_TOLERANCE = timedelta(days=1)  # clocks may be wrong by hours, and a time zone may be missing
# Nothing was captured before there was a Web. A clock that was never set begins in 1970 or 1980.
FIRST_PAGE = datetime(1990, 1, 1, tzinfo=UTC)
NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # 0 in programs, which stands for a time that is not known; -1 does, too


def written_time(time: datetime) -> str:
    """Return a time in UTC as documents have it: ISO 8601, with Z."""
    return time.isoformat().replace("+00:00", "Z")


def can_be_date(time: datetime) -> bool:
    """Return whether a document may have this date: of any age, but not of the future, nor 0 in programs.

    0 may be written in any time zone, so no time within a day of it counts.
    """
    return abs(time - NO_TIME) >= CLOCK_TOLERANCE and not is_in_future(time)


def is_in_future(time: datetime) -> bool:
    """Return whether a time, which is in UTC if it has no time zone, is later than any clock may be now."""
    return (time if time.tzinfo else time.replace(tzinfo=UTC)) > datetime.now(UTC) + CLOCK_TOLERANCE


def can_be_capture(time: datetime) -> bool:
    """Return whether a page of the Web may have been captured at this time."""
    return time >= FIRST_PAGE and can_be_date(time)
