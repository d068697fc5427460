"""Reads times by the `format` of a date field in an engine's mapping, as in `dd.MM.yyyy HH:mm||epoch_second`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from opensearch_winnow.foundation.written_time import time_at

USUAL_FORMAT = "strict_date_optional_time||epoch_millis"  # of a date field whose mapping names none
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
OFFSET = r"(?P<offset>Z|[+-]\d\d(?::?\d\d)?)"
NUMBER = re.compile(r"(-?\d+)(?:\.(\d+))?")
ISO = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?)(?:[T ](?:(?P<hour>\d\d?)(?::(?P<minute>\d\d?)"
    rf"(?::(?P<second>\d\d?)(?:[.,](?P<fraction>\d{{1,9}}))?)?)?{OFFSET}?)?)?)?)?"
)
# Names of formats that are ISO 8601, or a part of it, with or without `strict_` before them.
ISO_NAMES = re.compile(
    r"(strict_)?(date(_optional_time(_nanos)?|_hour(_minute(_second(_millis|_fraction)?)?)?|_time(_no_millis)?)?"
    r"|year(_month(_day)?)?)|iso8601|rfc3339_lenient"
)
BASIC = {
    "basic_date": "yyyyMMdd",
    "basic_date_time": "yyyyMMdd'T'HHmmss.SSSX",
    "basic_date_time_no_millis": "yyyyMMdd'T'HHmmssX",
}
# Letters of a Java pattern, and the part of a time that each stands for. The number of digits is that of the letters.
DIGITS = {"d": "day", "H": "hour", "h": "hour", "m": "minute", "s": "second"}
TOKEN = re.compile(r"'(?:[^']|'')*'|(?P<letter>[A-Za-z])(?P=letter)*|.", re.DOTALL)

Read = Callable[[str], datetime | None]


class DateFormat:
    """Reads times. Usage: `DateFormat("dd.MM.yyyy||epoch_second").time("31.12.2024")`.

    Its parts are tried in their order, as engines do it, and numbers are read as they are written. Names of months are
    English.
    """

    def __init__(self, format_: str = USUAL_FORMAT) -> None:
        parts = {part: _reader(part) for part in format_.split("||")}
        self.unknown = [part for part, read in parts.items() if read is None]  # parts that cannot be used
        self._readers = [read for read in parts.values() if read is not None]

    def time(self, value: Any) -> datetime | None:
        """Return the time that is written in a value of a document; None if it cannot be read."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        for read in self._readers:
            try:
                if (time := read(str(value))) is not None:
                    return time
            except (ValueError, OverflowError):  # no such day, or a year that Python does not know
                continue
        return None


def _reader(part: str) -> Read | None:
    if part in ("epoch_millis", "epoch_second"):
        return lambda text: _since_1970(text, 1_000 if part == "epoch_millis" else 1)
    if ISO_NAMES.fullmatch(part):
        return lambda text: _matched(ISO, text)
    pattern = _pattern(BASIC.get(part, part).removeprefix("8"))  # 8: a pattern of Java 8, as Elasticsearch 6 wrote it
    return None if pattern is None else lambda text: _matched(pattern, text)


def _since_1970(text: str, per_second: int) -> datetime | None:
    found = NUMBER.fullmatch(text)
    if found is None:
        return None
    whole, fraction = found.groups(default="")
    micros = int(f"{whole}{fraction[:6]:0<6}") // per_second  # of a second, or of a millisecond
    return time_at(micros)


def _pattern(written: str) -> re.Pattern[str] | None:
    """Return a pattern of Java's DateTimeFormatter as a regular expression; None if not all of it is known."""
    expression = ""
    for token in TOKEN.finditer(written):
        found = _expression(token[0], token["letter"])
        if found is None:
            return None
        expression += found
    try:
        return re.compile(expression, re.IGNORECASE)
    except re.error:  # a part that is there twice, or a bracket without the other
        return None


def _expression(token: str, letter: str | None) -> str | None:
    count = len(token)
    if letter is None:
        literal = token[1:-1].replace("''", "'") or "'" if token.startswith("'") and count > 1 else token
        return {"[": "(?:", "]": ")?"}.get(token) or re.escape(literal)
    if letter in DIGITS and count <= 2:
        return rf"(?P<{DIGITS[letter]}>\d{{{count},2}})"
    if letter in "yu" and count in (1, 2, 4):
        return {1: r"(?P<year>\d{1,4})", 2: r"(?P<short>\d\d)", 4: r"(?P<year>\d{4})"}[count]
    if letter in "ML":
        return rf"(?P<month>\d{{{count},2}})" if count <= 2 else r"(?P<name>[a-z]{3,})\.?"
    if letter == "S":
        return rf"(?P<fraction>\d{{{count}}})"
    if letter == "a":
        return r"(?P<half>[ap])\.?m\.?"
    if letter == "E":
        return r"[a-z]+\.?"
    return OFFSET if letter in "XxZ" else None


def _matched(pattern: re.Pattern[str], text: str) -> datetime | None:
    found = pattern.fullmatch(text)
    if found is None:
        return None
    parts = {name: part for name, part in found.groupdict().items() if part is not None}
    year = int(parts["year"]) if "year" in parts else 2000 + int(parts["short"]) if "short" in parts else 1970
    month = MONTHS.index(parts["name"][:3].lower()) + 1 if "name" in parts else int(parts.get("month", 1))
    hour = int(parts.get("hour", 0))
    if "half" in parts:
        hour = hour % 12 + 12 * (parts["half"].lower() == "p")
    day, minute, second = int(parts.get("day", 1)), int(parts.get("minute", 0)), int(parts.get("second", 0))
    fraction = int(f"{parts.get('fraction', '')[:6]:0<6}")
    zone = _zone(parts.get("offset", "Z"))
    return datetime(year, month, day, hour, minute, second, fraction, zone).astimezone(UTC)


def _zone(offset: str) -> timezone:
    if offset in "Zz":
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[3:].lstrip(":") or 0)
    return timezone(timedelta(hours=hours, minutes=minutes) * (-1 if offset.startswith("-") else 1))
