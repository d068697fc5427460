"""The captures of a URL on a line of time: the more a capture changed the page, the higher its bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.operations.asking.history import HistoryEntry

# In per cent of the width and of the height.
MIN_BAR_HEIGHT = 4  # of a capture that did not change
MIN_TICK_GAP = 12  # room for the name of a year
MARGIN = 1  # on either side, so that the first and the last bar are whole
MIN_SCALE = 0.2  # the highest bar is the largest change, or this share of the text if all changes are smaller


class Bar(NamedTuple):
    """A capture on the line. `before` is the id of the capture before it, or None."""

    id: str
    time: datetime
    x: float
    height: float
    target: tuple[float, float]  # start and width of the clickable area: up to halfway to its neighbours
    resemblance: float | None
    before: str | None


class Tick(NamedTuple):
    """The beginning of a year."""

    name: str
    x: float


class CaptureTimeline(NamedTuple):
    bars: Sequence[Bar]
    ticks: Sequence[Tick]
    start: str  # day of the first capture
    end: str


def capture_timeline(captures: Iterable[HistoryEntry]) -> CaptureTimeline | None:
    """Return the line of the captures with a known time, or None if all of these have the same time."""
    entries = list(captures)
    before = {after.card.id: earlier.card.id for earlier, after in pairwise(entries)}
    timed = [(each.card.fetched_at, each) for each in entries if each.card.fetched_at]
    if not timed or timed[0][0] == timed[-1][0]:
        return None
    first, last = timed[0][0], timed[-1][0]
    length = (last - first).total_seconds()

    def x_of(moment: datetime) -> float:
        return MARGIN + (100 - 2 * MARGIN) * (moment - first).total_seconds() / length

    xs = [x_of(moment) for moment, _ in timed]
    middles = [(here + there) / 2 for here, there in pairwise(xs)]
    targets = pairwise([0.0, *middles, 100.0])
    scale = max(MIN_SCALE, *(_changed(each) for _, each in timed))
    bars = [
        Bar(
            each.card.id,
            moment,
            x,
            max(100 * _changed(each) / scale, MIN_BAR_HEIGHT),
            (start, end - start),
            each.resemblance,
            before.get(each.card.id),
        )
        for (moment, each), x, (start, end) in zip(timed, xs, targets, strict=True)
    ]
    return CaptureTimeline(bars, _ticks(first, last, x_of), f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}")


def _changed(capture: HistoryEntry) -> float:
    return 0.0 if capture.resemblance is None else 1 - capture.resemblance


def _ticks(first: datetime, last: datetime, x_of: Callable[[datetime], float]) -> list[Tick]:
    ticks: list[Tick] = []
    for year in range(first.year + 1, last.year + 1):
        x = x_of(datetime(year, 1, 1, tzinfo=UTC))
        if not ticks or x - ticks[-1].x >= MIN_TICK_GAP:
            ticks.append(Tick(str(year), x))
    return ticks
