"""A timeline of captures: a line for each site, with a stroke at the time of each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.mappings.card import Card

LINE_LENGTH = 1_000
POSITIONS = 200  # on a line: captures closer together share a stroke


class SiteLine(NamedTuple):
    """The captures of a site."""

    site: str
    captures: int
    first: str | None  # day; None if no time is known
    last: str | None
    strokes: Counter[int]  # captures by position


class TimelineChart(NamedTuple):
    first: str  # day
    last: str
    lines: list[SiteLine]  # most captures first
    left_out: int  # number of further sites


def timeline(cards: Iterable[Card], *, max_sites: int) -> TimelineChart | None:
    """Return the timeline of the `max_sites` sites with most captures, or None if it would cover less than two days."""
    by_site: dict[str, list[datetime | None]] = defaultdict(list)
    for card in cards:
        by_site[card.site].append(card.fetched_at)
    known = [time for times in by_site.values() for time in times if time is not None]
    if not known or _day(min(known)) == _day(max(known)):
        return None
    first, last = min(known), max(known)
    sites = sorted(by_site.items(), key=lambda each: (-len(each[1]), each[0]))
    lines = [_line(site, times, first, last) for site, times in sites[:max_sites]]
    return TimelineChart(_day(first), _day(last), lines, max(len(sites) - max_sites, 0))


def strip(line: SiteLine) -> Iterator[str]:
    """Draw a line as an SVG that stretches to the available width."""
    yield f'<svg class="strip" viewBox="0 0 {LINE_LENGTH} 10" preserveAspectRatio="none" aria-hidden="true">'
    yield f'<path class="grid" d="M0 5H{LINE_LENGTH}"/>'
    for position, captures in sorted(line.strokes.items()):
        x = position * LINE_LENGTH / POSITIONS
        yield f'<path class="stroke" d="M{x:g} 0V10"><title>{count_of(captures, "capture")}</title></path>'
    yield "</svg>"


def _line(site: str, times: list[datetime | None], first: datetime, last: datetime) -> SiteLine:
    known = [time for time in times if time is not None]
    strokes = Counter(round(POSITIONS * ((time - first) / (last - first))) for time in known)
    if not known:
        return SiteLine(site, len(times), None, None, strokes)
    return SiteLine(site, len(times), _day(min(known)), _day(max(known)), strokes)


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d}"
