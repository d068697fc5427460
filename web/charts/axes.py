"""The frame, scales and axes of a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, log10
from typing import NamedTuple, Protocol

LETTER_WIDTH = 8  # about, including a share of the space between labels


class Frame(NamedTuple):
    """The area a chart is drawn in, in a picture of `width` × `height` pixels."""

    width: int = 400
    height: int = 260
    left: int = 68
    right: int = 380
    top: int = 12
    bottom: int = 212
    inset: int = 12  # between the frame and the outermost points


class Scale(Protocol):
    """Maps numbers to positions along one side of the frame."""

    def __call__(self, number: float) -> float:
        """Return the position of a number, in pixels."""

    @property
    def ticks(self) -> Sequence[float]: ...

    def labels(self, letters: float) -> dict[float, str]:
        """Return labels of ticks that together have at most `letters` characters."""


class LogScale:
    """A logarithmic scale from `low` to the first tick at or above `high`."""

    def __init__(self, low: int, high: int, start: float, end: float) -> None:
        self.ticks = ticks(low, high)
        self._low, self._start = log10(low), start
        self._by = (end - start) / (log10(self.ticks[-1]) - self._low)

    def __call__(self, number: float) -> float:
        return self._start + self._by * (log10(number) - self._low)

    def labels(self, letters: float) -> dict[float, str]:
        """Label all ticks if there is room, or else the powers of ten, or every second, fourth … of these."""
        shown = self.ticks
        if _letters(shown) > letters:
            shown = [tick for tick in shown if str(tick)[0] == "1"]
        while _letters(shown) > letters and len(shown) > 2:
            shown = shown[::2]
        return {tick: f"{tick:,}" for tick in shown}


class LinearScale:
    """A linear scale from 0 to the first tick at or above `high`."""

    def __init__(self, high: int, start: float, end: float, *, max_ticks: int = 5) -> None:
        step = next(tick for tick in ticks(1, max(high, 2)) if ceil(high / tick) <= max_ticks)
        self.ticks = list(range(0, max(high, 1) + step, step))
        self._start, self._by = start, (end - start) / self.ticks[-1]

    def __call__(self, number: float) -> float:
        return self._start + self._by * number

    def labels(self, letters: float) -> dict[float, str]:  # noqa: ARG002 (part of the protocol; there are only a few labels)
        return {tick: f"{tick:,}" for tick in self.ticks}


class ShareScale:
    """A linear scale of shares from 0 to 1, labelled in per cent."""

    ticks = tuple(tenth / 10 for tenth in range(0, 11, 2))

    def __init__(self, start: float, end: float) -> None:
        self._start, self._by = start, end - start

    def __call__(self, number: float) -> float:
        return self._start + self._by * number

    def labels(self, letters: float) -> dict[float, str]:  # noqa: ARG002 (part of the protocol; there are only a few labels)
        return {tick: f"{tick:.0%}".replace("%", " %") for tick in self.ticks}


def ticks(low: int, high: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50 and so on, at least two of them, from `low` to the first at or above `high`.

    `low` must be one of these numbers.
    """
    numbers = [low]
    while len(numbers) < 2 or numbers[-1] < high:
        numbers.append(numbers[-1] * 5 // 2 if str(numbers[-1])[0] == "2" else numbers[-1] * 2)
    return numbers


def axes(frame: Frame, x_scale: Scale, y_scale: Scale, *, names: tuple[str, str]) -> Iterator[str]:
    """Draw both axes with their grid, labels and `names`, first the horizontal one."""
    labels = x_scale.labels((frame.right - frame.left) / LETTER_WIDTH)
    for tick in x_scale.ticks:
        x = f"{x_scale(tick):.1f}"
        yield f'<path class="grid" d="M{x} {frame.top}V{frame.bottom}"/>\n'
        if tick in labels:
            yield f'<text class="middle" x="{x}" y="{frame.bottom + 19}">{labels[tick]}</text>\n'
    labels = y_scale.labels(
        (frame.bottom - frame.top) / 3
    )  # labels above each other take the height of a line, not the width of letters
    for tick in y_scale.ticks:
        y = y_scale(tick)
        yield f'<path class="grid" d="M{frame.left} {y:.1f}H{frame.right}"/>\n'
        if tick in labels:
            yield f'<text class="end" x="{frame.left - 8}" y="{y + 4:.1f}">{labels[tick]}</text>\n'
    middle, half = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
    width, height = frame.right - frame.left, frame.bottom - frame.top
    yield f'<rect class="frame" x="{frame.left}" y="{frame.top}" width="{width}" height="{height}"/>\n'
    yield f'<text class="middle" x="{middle}" y="{frame.height - 8}">{escape(names[0])}</text>\n'
    yield f'<text class="middle" transform="translate(13 {half}) rotate(-90)">{escape(names[1])}</text>\n'


def chart(frame: Frame, title: str, drawn: Iterator[str], *, linked: bool = False) -> Iterator[str]:
    """Wrap a drawing as an SVG element for a screen.

    A drawing with links is hidden from screen readers: the table below it has the same links.
    """
    role = 'aria-hidden="true"' if linked else 'role="img"'
    yield f'<svg class="chart" viewBox="0 0 {frame.width} {frame.height}" {role}>\n<title>{escape(title)}</title>\n'
    yield from drawn
    yield "</svg>\n"


def _letters(labelled: Sequence[int]) -> int:
    """Return the number of letters that the labels take: each has as much room as the widest one."""
    return len(labelled) * max(len(f"{tick:,}") for tick in labelled)
