"""When pages were captured: a line for each site, with a stroke where each of its pages is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.mappings.card import Card

LENGTH = 1_000
PLACES = 200  # that are told apart on a line


class Line(NamedTuple):
    """A site."""

    site: str
    pages: int
    first: str | None  # days; None where no time is known
    last: str | None
    strokes: Counter[int]  # pages at each place


class Timeline(NamedTuple):
    first: str  # days
    last: str
    lines: list[Line]  # most pages first
    left_out: int  # sites


def timeline(cards: Iterable[Card], *, most: int) -> Timeline | None:
    """Of so many sites. None where all is from one day, or from nobody knows when."""
    by_site: dict[str, list[datetime | None]] = defaultdict(list)
    for card in cards:
        by_site[card.site].append(card.fetched_at)
    known = [time for times in by_site.values() for time in times if time is not None]
    if not known or _day(min(known)) == _day(max(known)):
        return None
    first, last = min(known), max(known)
    sites = sorted(by_site.items(), key=lambda each: (-len(each[1]), each[0]))
    lines = [_line(site, times, first, last) for site, times in sites[:most]]
    return Timeline(_day(first), _day(last), lines, max(len(sites) - most, 0))


def strip(line: Line) -> Iterator[str]:
    """As wide as there is room."""
    yield f'<svg class="strip" viewBox="0 0 {LENGTH} 10" preserveAspectRatio="none" aria-hidden="true">'
    yield f'<path class="grid" d="M0 5H{LENGTH}"/>'
    for place, pages in sorted(line.strokes.items()):
        x = place * LENGTH / PLACES
        yield f'<path class="stroke" d="M{x:g} 0V10"><title>{count_of(pages, "page")}</title></path>'
    yield "</svg>"


def _line(site: str, times: list[datetime | None], first: datetime, last: datetime) -> Line:
    known = [time for time in times if time is not None]
    strokes = Counter(round(PLACES * ((time - first) / (last - first))) for time in known)
    if not known:
        return Line(site, len(times), None, None, strokes)
    return Line(site, len(times), _day(min(known)), _day(max(known)), strokes)


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d}"
