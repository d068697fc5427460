"""Draws lines over two axes as SVG, each axis linear or logarithmic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tools.svg_picture import STYLE, Picture

COLOURS = ("--a", "--b", "--c", "--d", "--ink")
LOOKS = "".join(
    f".line{i} {{ stroke: var({COLOURS[i % len(COLOURS)]}); stroke-width: 2; fill: none;"
    f" stroke-dasharray: {'none' if i < len(COLOURS) else '6 4'}; }}\n"
    for i in range(2 * len(COLOURS))
)
PLOT_STYLE = f"""{STYLE}svg {{ --d: #7a3ea1; }}
@media (prefers-color-scheme: dark) {{ svg {{ --d: #cfa5ee; }} }}
.axis {{ stroke: var(--quiet); }}
.hair {{ stroke: var(--rule); }}
{LOOKS}"""
DASHED = ".dashed { stroke-dasharray: 6 4; }\n"
SIZE = 860, 440
LEFT, RIGHT, TOP, BOTTOM = 92, 30, 60, 66
LEGEND_ROW = 22
MAX_TICKS = 8
FEW_POWERS = 3

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Plot:
    """Series of points over two axes. `name` is the file's, without its suffix. A logarithmic axis drops zeros.

    A later series is drawn over those before it. `dashed` names those that would otherwise hide another.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    series: dict[str, list[Point]]
    log_x: bool = False
    log_y: bool = False
    dashed: frozenset[str] = frozenset()

    def svg(self) -> str:
        width, height = SIZE[0], SIZE[1] + LEGEND_ROW * len(self.series)
        lines = ", ".join(self.series)
        style = PLOT_STYLE + (DASHED if self.dashed else "")
        picture = Picture(width, height, self.title, f"{self.y_label} over {self.x_label}: {lines}.", style)
        shown = {name: [point for point in points if self._fits(point)] for name, points in self.series.items()}
        points = [point for each in shown.values() for point in each]
        x_ticks, x_of = axis([x for x, _ in points], self.log_x, LEFT, width - RIGHT)
        y_ticks, y_of = axis([y for _, y in points], self.log_y, SIZE[1] - BOTTOM, TOP)
        picture.label(LEFT, 30, self.title)
        for x in x_ticks:
            picture.line(x_of(x), TOP, x_of(x), SIZE[1] - BOTTOM, "hair")
            picture.text(x_of(x), SIZE[1] - BOTTOM + 20, written(x), "quiet middle")
        for y in y_ticks:
            picture.line(LEFT, y_of(y), width - RIGHT, y_of(y), "hair")
            picture.text(LEFT - 8, y_of(y) + 5, written(y), "quiet end")
        picture.line(LEFT, TOP, LEFT, SIZE[1] - BOTTOM, "axis")
        picture.line(LEFT, SIZE[1] - BOTTOM, width - RIGHT, SIZE[1] - BOTTOM, "axis")
        picture.text((LEFT + width - RIGHT) / 2, SIZE[1] - BOTTOM + 44, self.x_label, "middle")
        picture.text(LEFT, TOP - 10, self.y_label)
        for i, (name, each) in enumerate(shown.items()):
            row, look = SIZE[1] + LEGEND_ROW * i, f"line{i} dashed" if name in self.dashed else f"line{i}"
            picture.path([(round(x_of(x), 1), round(y_of(y), 1)) for x, y in each], look)
            picture.line(LEFT, row, LEFT + 36, row, look)
            picture.text(LEFT + 46, row + 5, name)
        return picture.svg()

    def _fits(self, point: Point) -> bool:
        return (point[0] > 0 or not self.log_x) and (point[1] > 0 or not self.log_y)


def axis(values: list[float], log: bool, start: float, end: float) -> tuple[list[float], Callable[[float], float]]:
    """Return the ticks of an axis, and the function from a value to its coordinate between `start` and `end`."""
    scale: Callable[[float], float] = math.log10 if log else float
    ticks = list(powers(min(values), max(values)) if log else steps(min(0.0, *values), max(values)))
    low, high = scale(ticks[0]), scale(ticks[-1])
    return ticks, lambda value: start + (scale(value) - low) / (high - low) * (end - start)


def powers(low: float, high: float) -> Iterator[float]:
    """Yield the powers of ten around a range, at most about MAX_TICKS of them; 1, 2 and 5 times these if few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    if last - first <= FEW_POWERS:
        round_numbers = [factor * 10.0**exponent for exponent in range(first, last + 1) for factor in (1, 2, 5)]
        below, above = max(x for x in round_numbers if x <= low), min(x for x in round_numbers if x >= high)
        yield from (x for x in round_numbers if below <= x <= above)
        return
    step = math.ceil((last - first) / MAX_TICKS)
    yield from (10.0**exponent for exponent in range(first, last + step, step))


def steps(low: float, high: float) -> Iterator[float]:
    """Yield round numbers at equal distances around a range."""
    rough = ((high - low) or 1.0) / MAX_TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough)
    first, last = math.floor(low / step), max(math.ceil(high / step), math.floor(low / step) + 1)
    yield from (round(number * step, 12) for number in range(first, last + 1))


def written(value: float) -> str:
    """Return a number as a tick shows it."""
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.0e}".replace("e-0", "e−").replace("e+0", "e").replace("e+", "e").replace("e-", "e−")
    return f"{value:,.10g}"
