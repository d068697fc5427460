"""How many there are of each size, both axes logarithmic: points, the steps of those above, and a fitted line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from itertools import accumulate
from math import log10

from opensearch_winnow.web.charts.axes import Frame, LogScale, axes

Words = Callable[[int, int], str]  # of a size, and how many there are


class LogPlot:
    """`counts`: how many there are of each size, from `low` on."""

    def __init__(self, counts: Mapping[int, int], frame: Frame, *, low: int = 1) -> None:
        self._counts = dict(sorted(counts.items()))
        self._frame = frame
        self._low = low
        self._across = LogScale(low, max(counts, default=low), frame.left + frame.inset, frame.right - frame.inset)
        most = max(sum(counts.values()), 1)
        self._up = LogScale(1, most, frame.bottom - frame.inset, frame.top + frame.inset)

    def axes(self, names: tuple[str, str]) -> Iterator[str]:
        return axes(self._frame, self._across, self._up, names=names)

    def points(
        self, words: Words, link: Callable[[int], str] | None = None, *, radius: float = 4, all_of_them: bool = True
    ) -> Iterator[str]:
        """One for each size; or of those that would hide each other the first."""
        yield '<g class="points">\n'
        drawn = set()
        for size, count in self._counts.items():
            x, y = self._across(size), self._up(count)
            spot = round(x), round(y)
            if spot in drawn and not all_of_them:
                continue
            drawn.add(spot)
            place = f'cx="{x:.1f}" cy="{y:.1f}"'
            point = f'<circle {place} r="{radius:g}"><title>{escape(words(size, count))}</title></circle>'
            yield f'<a href="{escape(link(size))}" tabindex="-1">{point}</a>\n' if link else f"{point}\n"
        yield "</g>\n"

    def steps(self, some: Mapping[int, int] | None = None) -> Iterator[str]:
        """A line that falls behind each size to how many are larger; or a second one of only some of them."""
        counts = self._counts if some is None else dict(sorted(some.items()))
        left = accumulate([sum(counts.values()), *(-count for count in counts.values())])
        path = f"M{self._across(self._low):.1f} "
        for size, count in zip(counts, left, strict=False):
            path += f"{'' if path.endswith(' ') else 'V'}{self._up(count):.1f}H{self._across(size):.1f}"
        if counts:
            yield f'<path class="{"steps" if some is None else "steps some"}" d="{path}"/>\n'

    def power(self, first: float, exponent: float) -> Iterator[str]:
        """The line of the law `first` times size to the power of -exponent, as far as it says one or more."""
        last = min(log10(max(self._counts)), log10(first) / exponent) if first > 1 else 0.0
        if last <= 0:
            return
        end = first * 10 ** (-exponent * last)
        yield f'<path class="law" d="M{self._across(1):.1f} {self._up(first):.1f}'
        yield f'L{self._across(10**last):.1f} {self._up(max(end, 1)):.1f}"/>\n'
