"""A log-log plot of how many things have each size: points, cumulative steps, and a fitted power law."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from itertools import accumulate
from math import log10

from opensearch_winnow.web.charts.axes import Frame, LogScale, axes

PointLabel = Callable[[int, int], str]  # takes a size and its count


class LogPlot:
    """Draws the parts of the plot. `counts` are the numbers of things by size; sizes start at `low`."""

    def __init__(self, counts: Mapping[int, int], frame: Frame, *, low: int = 1) -> None:
        self._counts = dict(sorted(counts.items()))
        self._frame = frame
        self._low = low
        self._x_scale = LogScale(low, max(counts, default=low), frame.left + frame.inset, frame.right - frame.inset)
        total = max(sum(counts.values()), 1)
        self._y_scale = LogScale(1, total, frame.bottom - frame.inset, frame.top + frame.inset)

    def axes(self, names: tuple[str, str]) -> Iterator[str]:
        return axes(self._frame, self._x_scale, self._y_scale, names=names)

    def points(
        self,
        label: PointLabel,
        link: Callable[[int], str] | None = None,
        *,
        radius: float = 4,
        every_point: bool = True,
    ) -> Iterator[str]:
        """Draw a point for each size. Without `every_point`, draw one of the points that would cover each other."""
        yield '<g class="points">\n'
        drawn = set()
        for size, count in self._counts.items():
            x, y = self._x_scale(size), self._y_scale(count)
            spot = round(x), round(y)
            if spot in drawn and not every_point:
                continue
            drawn.add(spot)
            centre = f'cx="{x:.1f}" cy="{y:.1f}"'
            point = f'<circle {centre} r="{radius:g}"><title>{escape(label(size, count))}</title></circle>'
            yield f'<a href="{escape(link(size))}" tabindex="-1">{point}</a>\n' if link else f"{point}\n"
        yield "</g>\n"

    def steps(self, subset: Mapping[int, int] | None = None) -> Iterator[str]:
        """Draw a step line of how many things have at least each size; of a `subset` of them, a dashed line."""
        counts = self._counts if subset is None else dict(sorted(subset.items()))
        remaining = accumulate([sum(counts.values()), *(-count for count in counts.values())])
        path = f"M{self._x_scale(self._low):.1f} "
        for size, count in zip(counts, remaining, strict=False):
            path += f"{'' if path.endswith(' ') else 'V'}{self._y_scale(count):.1f}H{self._x_scale(size):.1f}"
        if counts:
            yield f'<path class="{"steps" if subset is None else "steps some"}" d="{path}"/>\n'

    def power(self, first: float, exponent: float) -> Iterator[str]:
        """Draw the power law `first` · size^-`exponent`, as far as it is 1 or more."""
        last = min(log10(max(self._counts)), log10(first) / exponent) if first > 1 else 0.0
        if last <= 0:
            return
        end = first * 10 ** (-exponent * last)
        yield f'<path class="law" d="M{self._x_scale(1):.1f} {self._y_scale(first):.1f}'
        yield f'L{self._x_scale(10**last):.1f} {self._y_scale(max(end, 1)):.1f}"/>\n'
