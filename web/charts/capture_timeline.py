"""The captures of a URL on a line of time: the more a capture changed the page, the higher its bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.answers.asking.history import MomentDocument

# In per cent of the width and of the height.
MIN_BAR_HEIGHT = 4  # of a capture that did not change
MIN_TICK_GAP = 12  # room for the name of a year
MARGIN = 1  # on either side, so that the first and the last bar are whole
MIN_SCALE = 0.2  # the highest bar is the largest change, or this share of the text if all changes are smaller


class Bar(NamedTuple):
    """A capture on the line. `before` is the id of the capture before it, or None."""

    id: str
    time: str
    x: float
    height: float
    target: tuple[float, float]  # start and width of what can be clicked: up to halfway to its neighbours
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


def capture_timeline(captures: Sequence[MomentDocument]) -> CaptureTimeline | None:
    """Return the line of the captures with a known time, or None if all of these are of one moment."""
    before = {after["id"]: earlier["id"] for earlier, after in pairwise(captures)}
    timed = [(each["fetched_at"], each) for each in captures if each["fetched_at"]]
    moments = [datetime.fromisoformat(stamp) for stamp, _ in timed]
    if not timed or moments[0] == moments[-1]:
        return None
    first, length = moments[0], (moments[-1] - moments[0]).total_seconds()

    def x_of(moment: datetime) -> float:
        return MARGIN + (100 - 2 * MARGIN) * (moment - first).total_seconds() / length

    xs = [x_of(moment) for moment in moments]
    middles = [(here + there) / 2 for here, there in pairwise(xs)]
    targets = pairwise([0.0, *middles, 100.0])
    scale = max(MIN_SCALE, *(_changed(each) for _, each in timed))
    bars = [
        Bar(
            each["id"],
            stamp,
            x,
            max(100 * _changed(each) / scale, MIN_BAR_HEIGHT),
            (start, end - start),
            each["resemblance"],
            before.get(each["id"]),
        )
        for (stamp, each), x, (start, end) in zip(timed, xs, targets, strict=True)
    ]
    return CaptureTimeline(bars, _ticks(first, moments[-1], x_of), timed[0][0][:10], timed[-1][0][:10])


def _changed(capture: MomentDocument) -> float:
    return 0.0 if capture["resemblance"] is None else 1 - capture["resemblance"]


def _ticks(first: datetime, last: datetime, x_of: Callable[[datetime], float]) -> list[Tick]:
    ticks: list[Tick] = []
    for year in range(first.year + 1, last.year + 1):
        x = x_of(datetime(year, 1, 1, tzinfo=UTC))
        if not ticks or x - ticks[-1].x >= MIN_TICK_GAP:
            ticks.append(Tick(str(year), x))
    return ticks
