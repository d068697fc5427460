"""Numbers, shares, sizes and times as people read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, Protocol

BYTE_UNITS = ("bytes", "kB", "MB", "GB", "TB")


class HasTime(Protocol):
    """Anything with a capture time: a card, a record, a compared text."""

    @property
    def fetched_at(self) -> datetime | None: ...


def count_of(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun: "1 page", "2 pages"; "1 copy", "2 copies" with `plural` given."""
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"


def percent(share: float) -> str:
    """Return a share as whole per cent; 0 % and 100 % appear only for exactly 0 and 1."""
    return _rounded(share, "under ", "over ")


def compact_percent(share: float) -> str:
    """Return a share as `percent` does, but short enough for a table: "<1 %", ">99 %"."""
    return _rounded(share, "<", ">")


def scored_percent(share: float, kind: Literal["exact", "estimate"], error: float) -> str:
    """Return a score for a table; an estimate is marked and carries its standard error."""
    if kind == "exact":
        return compact_percent(share)
    decimals = 1 if 0 < error < 0.0095 else 0  # 0.9 and 1, not 1.0
    return f"≈ {100 * share:.0f} ± {100 * error:.{decimals}f} %"


def percent_range(low: float, high: float) -> str:
    """Return two shares as a range: "83–94 %", or one number where both round to it."""
    lowest, highest = compact_percent(low), compact_percent(high)
    if lowest == highest:
        return lowest
    number = lowest.removesuffix(" %")
    return f"{number}–{highest}" if highest[0].isdigit() else f"{number} to {highest}"


def byte_size(size: float) -> str:
    """Return a number of bytes in decimal units: 1 kB is 1,000 bytes."""
    for unit in BYTE_UNITS[:-1]:
        if size < 999.5:
            return f"{size:,.0f} {unit}" if unit == "bytes" or size >= 99.95 else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} {BYTE_UNITS[-1]}"


def duration(seconds: float) -> str:
    """Return elapsed time in milliseconds or seconds."""
    return f"{1000 * seconds:,.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def day(capture: HasTime) -> str:
    """Return the day of a capture, or an empty string if its time is unknown."""
    return "" if capture.fetched_at is None else f"{capture.fetched_at:%Y-%m-%d}"


def _rounded(share: float, below: str, above: str) -> str:
    if 0 < share < 0.01:
        return f"{below}1 %"
    if 0.99 < share < 1:
        return f"{above}99 %"
    return f"{share:.0%}".replace("%", " %")


def more_than_listed(count: int, noun: str, plural: str | None = None) -> str:
    """Say how many entries a list lacks: "12 more pages"; empty if it lacks none."""
    return count_of(count, f"more {noun}", f"more {plural or noun + 's'}") if count > 0 else ""


def bins(counts: Mapping[int, int]) -> list[tuple[str, int]]:
    """Group token counts by the number of pages they are on: 1, 2, 3–10, 11–30, 31–100 and so on.

    The last bin is the last one with any tokens.
    """
    edges = [1, 2]
    most = max(counts, default=0)
    while edges[-1] < most:
        edges.append(10 if edges[-1] == 2 else edges[-1] * 3 if str(edges[-1])[0] == "1" else edges[-1] // 3 * 10)
    ends = edges if most else []
    totals: Counter[int] = Counter()
    for pages, tokens in counts.items():
        totals[next(end for end in ends if pages <= end)] += tokens
    starts = [1, *(end + 1 for end in ends)]
    labels = [
        (f"{start:,}" if start == end else f"{start:,}–{end:,}", end) for start, end in zip(starts, ends, strict=False)
    ]
    while labels and not totals[labels[-1][1]]:
        labels.pop()
    return [(label, totals[end]) for label, end in labels]
