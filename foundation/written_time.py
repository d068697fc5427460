"""Converts times to and from what programs write, and tells which times cannot be right."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # 0 in programs, which stands for an unknown time, as -1 does
MICROSECOND = timedelta(microseconds=1)
CLOCK_TOLERANCE = timedelta(days=1)  # clocks may be wrong by hours, and a time zone may be missing
# Nothing was captured before there was a Web. A clock that was never set begins in 1970 or 1980.
FIRST_PAGE = datetime(1990, 1, 1, tzinfo=UTC)


def written_time(time: datetime) -> str:
    """Return a time in UTC as documents have it: ISO 8601, with Z."""
    return time.isoformat().replace("+00:00", "Z")


def in_utc(time: datetime) -> datetime:
    """Return a time in UTC. A time without a time zone is in UTC already."""
    if time.tzinfo is UTC:
        return time
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{time} has no equivalent in UTC") from None


def microseconds(time: datetime) -> int:
    """Return the microseconds since 1970. A time without a time zone is in UTC."""
    return (in_utc(time) - EPOCH) // MICROSECOND


def time_at(microseconds: int) -> datetime:
    """Return the time in UTC that comes this many microseconds after the beginning of 1970."""
    return EPOCH + timedelta(microseconds=microseconds)


def can_be_date(time: datetime) -> bool:
    """Return whether a document may have this date: of any age, but not of the future, nor 0 in programs.

    0 may be written in any time zone, so no time within a day of it counts.
    """
    return abs(time - EPOCH) >= CLOCK_TOLERANCE and not is_in_future(time)


def is_in_future(time: datetime) -> bool:
    """Return whether a time, which is in UTC if it has no time zone, is later than any clock may be now."""
    return (time if time.tzinfo else time.replace(tzinfo=UTC)) > datetime.now(UTC) + CLOCK_TOLERANCE


def can_be_capture(time: datetime) -> bool:
    """Return whether a page of the Web may have been captured at this time."""
    return time >= FIRST_PAGE and can_be_date(time)
