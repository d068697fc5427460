"""The captures of a URL on a line of time."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.operations.asking.history import HistoryEntry
from opensearch_winnow.web.charts.capture_timeline import MIN_BAR_HEIGHT, capture_timeline
from tests.cli.sample_card import card


def capture(name: str, time: str | None, resemblance: float | None = None) -> HistoryEntry:
    return HistoryEntry(card._replace(id=name, fetched_at=datetime.fromisoformat(time) if time else None), resemblance)


def test_places_and_heights() -> None:
    timeline = capture_timeline(
        [
            capture("unknown", None),
            capture("a", "2023-07-01T00:00:00Z", 0.9),
            capture("b", "2023-07-11T00:00:00Z", 1.0),
            capture("c", "2025-07-01T00:00:00Z", 0.6),
        ]
    )
    assert timeline
    assert [(bar.id, bar.before) for bar in timeline.bars] == [("a", "unknown"), ("b", "a"), ("c", "b")]
    assert [bar.height for bar in timeline.bars] == pytest.approx([25, MIN_BAR_HEIGHT, 100])
    assert [bar.x for bar in timeline.bars] == pytest.approx([1, 1 + 98 * 10 / 731, 99])
    assert [tick.name for tick in timeline.ticks] == ["2024", "2025"]
    assert (timeline.start, timeline.end) == ("2023-07-01", "2025-07-01")


def test_small_changes_stay_small() -> None:
    timeline = capture_timeline([capture("a", "2024-01-01T00:00:00Z"), capture("b", "2024-02-01T00:00:00Z", 0.98)])
    assert timeline
    assert timeline.bars[1].height == pytest.approx(10)


def test_one_moment_is_no_line() -> None:
    assert capture_timeline([]) is None
    assert capture_timeline([capture("a", None), capture("b", None)]) is None
    assert capture_timeline([capture("a", "2024-01-01T00:00:00Z"), capture("b", "2024-01-01T00:00:00Z")]) is None


@given(st.lists(st.datetimes(), min_size=2, max_size=30, unique=True), st.floats(0, 1))
def test_everything_is_on_it(times: list[datetime], resemblance: float) -> None:
    stamps = [f"{time.isoformat()}Z" for time in sorted(times)]
    timeline = capture_timeline([capture(str(at), stamp, resemblance) for at, stamp in enumerate(stamps)])
    assert timeline
    edge = 0.0
    for bar in timeline.bars:
        assert bar.target[0] == pytest.approx(edge)
        edge = sum(bar.target)
        assert bar.target[0] <= bar.x <= edge
        assert MIN_BAR_HEIGHT <= bar.height <= 100.001
    assert edge == pytest.approx(100)
    assert all(0 <= tick.x <= 100 for tick in timeline.ticks)
