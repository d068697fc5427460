"""The captures of a URL, as a calendar and on a line of time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.operations.asking.history import HistoryEntry
from opensearch_winnow.web.charts.capture_calendar import (
    MIN_EMPTY_ROWS_TO_MERGE,
    Calendar,
    capture_calendar,
)
from opensearch_winnow.web.charts.capture_timeline import MIN_BAR_HEIGHT, capture_timeline
from tests.cli.sample_card import card


def moments(times: Sequence[str | None], shares: Sequence[float | None] = ()) -> list[HistoryEntry]:
    """Return captures of these days or times, whose ids are numbers."""
    shares = [*shares, *[None] * (len(times) - len(shares))]
    stamps = [
        None if each is None else datetime.fromisoformat(each if "T" in each else f"{each}T00Z") for each in times
    ]
    return [
        HistoryEntry(card._replace(id=str(number), fetched_at=stamp), share)
        for number, (stamp, share) in enumerate(zip(stamps, shares, strict=True))
    ]


def calendar(times: Sequence[str], shares: Sequence[float | None] = ()) -> Calendar:
    made = capture_calendar(moments(times, shares))
    assert made is not None
    return made


@given(st.lists(st.datetimes(), min_size=2, max_size=30))
def test_every_capture_is_in_the_cell_of_its_time_and_gaps_are_gaps(times: list[object]) -> None:
    found = calendar(sorted(f"{time:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + "Z" for time in times))
    cells = [cell for row in found.rows for cell in row.cells]
    assert [each.card.id for cell in cells for each in cell.captures] == [str(at) for at in range(len(times))]
    assert all(f"{each.card.fetched_at}".startswith(cell.name) for cell in cells for each in cell.captures)
    assert all(len(row.cells) <= len(found.columns) for row in found.rows)
    names = [row.name for row in found.rows if row.cells]
    assert names == sorted(set(names))
    years_or_months = [int(name[:4]) if len(name) == 4 else 12 * int(name[:4]) + int(name[5:]) for name in names]
    drawn = sum(row.empty or 1 for row in found.rows)
    assert drawn == years_or_months[-1] - years_or_months[0] + 1
    assert all(row.empty >= MIN_EMPTY_ROWS_TO_MERGE for row in found.rows if not row.cells)


def test_days_where_captures_are_close_together() -> None:
    days = calendar(["2024-01-31", "2024-02-29", "2024-03-31T23:00:00Z"])
    assert [(row.name, len(row.cells)) for row in days.rows] == [("2024-01", 31), ("2024-02", 29), ("2024-03", 31)]
    months = calendar(["2024-01-31", "2024-04-01"])
    assert [(row.name, len(row.cells)) for row in months.rows] == [("2024", 12)]


def test_a_cell_has_the_degree_of_its_greatest_change() -> None:
    days = [f"2024-01-{day}" for day in ("01", "02", "03", "03", "04", "05", "06")]
    cells = calendar(days, [None, 1.0, 0.95, 1.0, 0.9, 0.5, 0.2]).rows[0].cells
    assert [(cell.name[-1], cell.degree, cell.lowest) for cell in cells if cell.captures] == [
        ("1", "unknown", None),
        ("2", "same", 1.0),
        ("3", "slightly", 0.95),
        ("4", "slightly", 0.9),
        ("5", "partly", 0.5),
        ("6", "mostly", 0.2),
    ]


def test_years_without_a_capture_are_one_row() -> None:
    rows = [(row.name, row.empty) for row in calendar(["1999-05-01", "2001-05-01", "2024-05-01"]).rows]
    assert rows == [("1999", 0), ("2000", 0), ("2001", 0), ("2002 to 2023", 22), ("2024", 0)]


def test_charts_that_would_show_nothing_are_none() -> None:
    assert capture_calendar([]) is capture_calendar(moments([None, "2024-01-01"])) is None
    assert capture_timeline([]) is capture_timeline(moments([None, None])) is None
    assert capture_timeline(moments(["2024-01-01", "2024-01-01"])) is None


def test_places_and_heights() -> None:
    timeline = capture_timeline(moments([None, "2023-07-01", "2023-07-11", "2025-07-01"], [None, 0.9, 1.0, 0.6]))
    assert timeline
    assert [(bar.id, bar.before) for bar in timeline.bars] == [("1", "0"), ("2", "1"), ("3", "2")]
    assert [bar.height for bar in timeline.bars] == pytest.approx([25, MIN_BAR_HEIGHT, 100])
    assert [bar.x for bar in timeline.bars] == pytest.approx([1, 1 + 98 * 10 / 731, 99])
    assert [tick.name for tick in timeline.ticks] == ["2024", "2025"]
    assert (timeline.start, timeline.end) == ("2023-07-01", "2025-07-01")
    small = capture_timeline(moments(["2024-01-01", "2024-02-01"], [None, 0.98]))
    assert small
    assert small.bars[1].height == pytest.approx(10)  # small changes stay small


@given(st.lists(st.datetimes(), min_size=2, max_size=30, unique=True), st.floats(0, 1))
def test_everything_is_on_it(times: list[datetime], resemblance: float) -> None:
    stamps = [f"{time.isoformat()}Z" for time in sorted(times)]
    timeline = capture_timeline(moments(stamps, [resemblance] * len(stamps)))
    assert timeline
    edge = 0.0
    for bar in timeline.bars:
        assert bar.target[0] == pytest.approx(edge)
        edge = sum(bar.target)
        assert bar.target[0] <= bar.x <= edge
        assert MIN_BAR_HEIGHT <= bar.height <= 100.001
    assert edge == pytest.approx(100)
    assert all(0 <= tick.x <= 100 for tick in timeline.ticks)
