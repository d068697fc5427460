"""The capture calendar."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.operations.asking.history import HistoryEntry
from opensearch_winnow.web.charts.capture_calendar import MIN_EMPTY_ROWS_TO_MERGE, capture_calendar
from tests.cli.sample_card import card


def moments(times: Sequence[str | None], shares: Sequence[float | None] = ()) -> list[HistoryEntry]:
    shares = [*shares, *[None] * (len(times) - len(shares))]
    return [
        HistoryEntry(card._replace(id=str(number), fetched_at=datetime.fromisoformat(time) if time else None), share)
        for number, (time, share) in enumerate(zip(times, shares, strict=True))
    ]


@given(st.lists(st.datetimes(), min_size=2, max_size=30))
def test_every_capture_is_in_the_cell_of_its_time_and_gaps_are_gaps(times: list[object]) -> None:
    stamps = sorted(f"{time:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + "Z" for time in times)
    calendar = capture_calendar(moments(stamps))
    assert calendar is not None
    cells = [cell for row in calendar.rows for cell in row.cells]
    assert [each.card.id for cell in cells for each in cell.captures] == [str(at) for at in range(len(stamps))]
    assert all(f"{each.card.fetched_at}".startswith(cell.name) for cell in cells for each in cell.captures)
    assert all(len(row.cells) <= len(calendar.columns) for row in calendar.rows)
    names = [row.name for row in calendar.rows if row.cells]
    assert names == sorted(set(names))
    years_or_months = [int(name[:4]) if len(name) == 4 else 12 * int(name[:4]) + int(name[5:]) for name in names]
    drawn = sum(row.empty or 1 for row in calendar.rows)
    assert drawn == years_or_months[-1] - years_or_months[0] + 1
    assert all(row.empty >= MIN_EMPTY_ROWS_TO_MERGE for row in calendar.rows if not row.cells)


def test_days_where_captures_are_close_together() -> None:
    calendar = capture_calendar(moments(["2024-01-31T00:00:00Z", "2024-02-29T00:00:00Z", "2024-03-31T23:00:00Z"]))
    assert calendar is not None
    assert [(row.name, len(row.cells)) for row in calendar.rows] == [("2024-01", 31), ("2024-02", 29), ("2024-03", 31)]
    months = capture_calendar(moments(["2024-01-31T00:00:00Z", "2024-04-01T00:00:00Z"]))
    assert months is not None
    assert [(row.name, len(row.cells)) for row in months.rows] == [("2024", 12)]


def test_a_cell_has_the_degree_of_its_greatest_change() -> None:
    shares = [None, 1.0, 0.95, 1.0, 0.9, 0.5, 0.2]
    days = ["01", "02", "03", "03", "04", "05", "06"]
    calendar = capture_calendar(moments([f"2024-01-{day}T00:00:00Z" for day in days], shares))
    assert calendar is not None
    found = {cell.name[-2:]: (cell.degree, cell.lowest) for cell in calendar.rows[0].cells if cell.captures}
    assert found == {
        "01": ("unknown", None),
        "02": ("same", 1.0),
        "03": ("slightly", 0.95),
        "04": ("slightly", 0.9),
        "05": ("partly", 0.5),
        "06": ("mostly", 0.2),
    }


def test_years_without_a_capture_are_one_row() -> None:
    calendar = capture_calendar(moments(["1999-05-01T00:00:00Z", "2001-05-01T00:00:00Z", "2024-05-01T00:00:00Z"]))
    assert calendar is not None
    rows = [(row.name, row.empty) for row in calendar.rows]
    assert rows == [("1999", 0), ("2000", 0), ("2001", 0), ("2002 to 2023", 22), ("2024", 0)]


def test_one_that_would_show_nothing_is_none() -> None:
    assert capture_calendar([]) is capture_calendar(moments([None, "2024-01-01T00:00:00Z"])) is None
