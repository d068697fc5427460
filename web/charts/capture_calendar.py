"""The captures of a URL as a calendar: a row of months for each year, or of days for each month if they are close."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.operations.asking.history import HistoryEntry

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
MAX_MONTHS_BY_DAY = 3  # captures over fewer months are shown by day
MIN_EMPTY_ROWS_TO_MERGE = 3  # this many rows without a capture become one


class Cell(NamedTuple):
    """A cell: a day or a month, and its captures."""

    name: str  # 2024-03-01 or 2024-03
    captures: Sequence[HistoryEntry]

    @property
    def lowest(self) -> float | None:
        """The lowest resemblance of a capture to the one before it."""
        return min((each.resemblance for each in self.captures if each.resemblance is not None), default=None)

    @property
    def degree(self) -> str:
        """The CSS class for how much the page changed."""
        lowest = self.lowest
        if lowest is None:
            return "unknown"
        bounds = (("same", 1.0), ("slightly", 0.9), ("partly", 0.5))
        return next((name for name, least in bounds if lowest >= least), "mostly")


class CalendarRow(NamedTuple):
    """A year or a month with its cells; or `empty` consecutive ones without a capture, and no cells."""

    name: str
    cells: Sequence[Cell]
    empty: int = 0


class Calendar(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[CalendarRow]


def capture_calendar(captures: Iterable[HistoryEntry]) -> Calendar | None:
    """Return the calendar of the captures with a known time, or None if there are fewer than two."""
    timed = [(written_time(each.card.fetched_at), each) for each in captures if each.card.fetched_at]
    if len(timed) < 2:
        return None
    by_days = _number(timed[-1][0][:7]) - _number(timed[0][0][:7]) < MAX_MONTHS_BY_DAY
    length = len("2024-03-01" if by_days else "2024-03")
    by_cell = {name: [each for _, each in some] for name, some in groupby(timed, key=lambda pair: pair[0][:length])}
    columns = [str(day) for day in range(1, 32)] if by_days else MONTHS
    return Calendar(columns, list(_rows(by_cell)))


def _rows(by_cell: Mapping[str, Sequence[HistoryEntry]]) -> Iterator[CalendarRow]:
    """Yield the rows from the first capture to the last; many in a row without a capture are merged into one."""
    before: int | None = None
    for name in dict.fromkeys(cell[:-3] for cell in by_cell):
        number = _number(name)
        between = range(number if before is None else before + 1, number)
        if len(between) >= MIN_EMPTY_ROWS_TO_MERGE:
            yield CalendarRow(f"{_name(between[0], name)} to {_name(between[-1], name)}", (), len(between))
        else:
            yield from (_row(_name(each, name), by_cell) for each in between)
        yield _row(name, by_cell)
        before = number


def _row(name: str, by_cell: Mapping[str, Sequence[HistoryEntry]]) -> CalendarRow:
    cells = monthrange(int(name[:4]), int(name[5:]))[1] if len(name) > 4 else 12
    return CalendarRow(
        name, [Cell(cell, by_cell.get(cell, ())) for cell in (f"{name}-{at:02}" for at in range(1, cells + 1))]
    )


def _number(name: str) -> int:
    """Number years, or months, consecutively."""
    return int(name) if len(name) == 4 else 12 * int(name[:4]) + int(name[5:]) - 1


def _name(number: int, like: str) -> str:
    return f"{number:04}" if len(like) == 4 else f"{number // 12:04}-{number % 12 + 1:02}"
