"""The captures of a URL on a calendar: years by months, or months by days where they are close together."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from opensearch_winnow.answers.history import MomentDocument

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
CLOSE = 3  # months, whose days fit on a screen
GAP = 3  # rows without a capture that are not drawn one by one


class Day(NamedTuple):
    """Or month: a cell, and what was captured in it."""

    name: str  # 2024-03-01 or 2024-03
    captures: Sequence[MomentDocument]

    @property
    def lowest(self) -> float | None:
        """The resemblance to the capture before, where it has changed most."""
        return min((each["resemblance"] for each in self.captures if each["resemblance"] is not None), default=None)

    @property
    def degree(self) -> str:
        """How much it has changed: the class of its colour."""
        lowest = self.lowest
        if lowest is None:
            return "unknown"
        bounds = (("same", 1.0), ("slightly", 0.9), ("partly", 0.5))
        return next((name for name, least in bounds if lowest >= least), "mostly")


class Row(NamedTuple):
    """A year or a month; without cells so many of them as are `empty`."""

    name: str
    cells: Sequence[Day]
    empty: int = 0


class Calendar(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[Row]


def capture_calendar(captures: Sequence[MomentDocument]) -> Calendar | None:
    """Of those whose times are known; None if they are fewer than two."""
    timed = [(each["fetched_at"], each) for each in captures if each["fetched_at"]]
    if len(timed) < 2:
        return None
    by_days = _number(timed[-1][0][:7]) - _number(timed[0][0][:7]) < CLOSE
    length = len("2024-03-01" if by_days else "2024-03")
    found = {name: [each for _, each in some] for name, some in groupby(timed, key=lambda pair: pair[0][:length])}
    columns = [str(day) for day in range(1, 32)] if by_days else MONTHS
    return Calendar(columns, list(_rows(found)))


def _rows(found: Mapping[str, Sequence[MomentDocument]]) -> Iterator[Row]:
    """From the first that has a capture to the last; many in a row that have none are one."""
    before: int | None = None
    for name in dict.fromkeys(cell[:-3] for cell in found):
        number = _number(name)
        between = range(number if before is None else before + 1, number)
        if len(between) >= GAP:
            yield Row(f"{_name(between[0], name)} to {_name(between[-1], name)}", (), len(between))
        else:
            yield from (_row(_name(each, name), found) for each in between)
        yield _row(name, found)
        before = number


def _row(name: str, found: Mapping[str, Sequence[MomentDocument]]) -> Row:
    cells = monthrange(int(name[:4]), int(name[5:]))[1] if len(name) > 4 else 12
    return Row(name, [Day(cell, found.get(cell, ())) for cell in (f"{name}-{at:02}" for at in range(1, cells + 1))])


def _number(name: str) -> int:
    """Of a year, or of a month."""
    return int(name) if len(name) == 4 else 12 * int(name[:4]) + int(name[5:]) - 1


def _name(number: int, like: str) -> str:
    return f"{number:04}" if len(like) == 4 else f"{number // 12:04}-{number % 12 + 1:02}"
