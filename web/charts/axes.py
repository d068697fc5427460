"""The frame of a chart, and its axes: where numbers are, and the lines and labels that say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, log10
from typing import NamedTuple, Protocol

LETTER = 8  # about how wide one is, with its share of the space between labels


class Frame(NamedTuple):
    """Where a chart draws, in a picture of this size."""

    width: int = 400
    height: int = 260
    left: int = 68
    right: int = 380
    top: int = 12
    bottom: int = 212
    inset: int = 12  # between the frame and the outermost points


class Scale(Protocol):
    """Numbers along one side of the frame."""

    def __call__(self, number: float) -> float:
        """Where it is."""

    @property
    def ticks(self) -> Sequence[float]: ...

    def labels(self, letters: float) -> dict[float, str]:
        """Of ticks, where there is room for so many letters in all."""


class LogScale:
    """The numbers from `low` to `high`, each decade as long as the other."""

    def __init__(self, low: int, high: int, start: float, end: float) -> None:
        self.ticks = ticks(low, high)
        self._low, self._start = log10(low), start
        self._by = (end - start) / (log10(self.ticks[-1]) - self._low)

    def __call__(self, number: float) -> float:
        return self._start + self._by * (log10(number) - self._low)

    def labels(self, letters: float) -> dict[float, str]:
        """All of them, as long as they do not crowd; else those of decades, or of every second or third decade."""
        shown = self.ticks
        if _letters(shown) > letters:
            shown = [tick for tick in shown if str(tick)[0] == "1"]
        while _letters(shown) > letters and len(shown) > 2:
            shown = shown[::2]
        return {tick: f"{tick:,}" for tick in shown}


class LinearScale:
    """The numbers from 0 to `high`, or to the first round one above it."""

    def __init__(self, high: int, start: float, end: float, *, most: int = 5) -> None:
        step = next(tick for tick in ticks(1, max(high, 2)) if ceil(high / tick) <= most)
        self.ticks = list(range(0, max(high, 1) + step, step))
        self._start, self._by = start, (end - start) / self.ticks[-1]

    def __call__(self, number: float) -> float:
        return self._start + self._by * number

    def labels(self, letters: float) -> dict[float, str]:  # noqa: ARG002 (there are only a few)
        return {tick: f"{tick:,}" for tick in self.ticks}


class ShareScale:
    """Shares from none to all."""

    ticks = tuple(tenth / 10 for tenth in range(0, 11, 2))

    def __init__(self, start: float, end: float) -> None:
        self._start, self._by = start, end - start

    def __call__(self, number: float) -> float:
        return self._start + self._by * number

    def labels(self, letters: float) -> dict[float, str]:  # noqa: ARG002 (there are only a few)
        return {tick: f"{tick:.0%}".replace("%", " %") for tick in self.ticks}


def ticks(low: int, high: int) -> list[int]:
    """1, 2, 5, 10, 20, 50 and so on, from `low`, one of these, to the first that is not below `high`: two at least."""
    found = [low]
    while len(found) < 2 or found[-1] < high:
        found.append(found[-1] * 5 // 2 if str(found[-1])[0] == "2" else found[-1] * 2)
    return found


def axes(frame: Frame, across: Scale, up: Scale, *, names: tuple[str, str]) -> Iterator[str]:
    """With their names, the one below and the one to the left."""
    labels = across.labels((frame.right - frame.left) / LETTER)
    for tick in across.ticks:
        x = f"{across(tick):.1f}"
        yield f'<path class="grid" d="M{x} {frame.top}V{frame.bottom}"/>\n'
        if tick in labels:
            yield f'<text class="middle" x="{x}" y="{frame.bottom + 19}">{labels[tick]}</text>\n'
    labels = up.labels((frame.bottom - frame.top) / 3)  # one above the other they need no room for their letters
    for tick in up.ticks:
        y = up(tick)
        yield f'<path class="grid" d="M{frame.left} {y:.1f}H{frame.right}"/>\n'
        if tick in labels:
            yield f'<text class="end" x="{frame.left - 8}" y="{y + 4:.1f}">{labels[tick]}</text>\n'
    middle, half = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
    width, height = frame.right - frame.left, frame.bottom - frame.top
    yield f'<rect class="frame" x="{frame.left}" y="{frame.top}" width="{width}" height="{height}"/>\n'
    yield f'<text class="middle" x="{middle}" y="{frame.height - 8}">{escape(names[0])}</text>\n'
    yield f'<text class="middle" transform="translate(13 {half}) rotate(-90)">{escape(names[1])}</text>\n'


def chart(frame: Frame, title: str, drawn: Iterator[str], *, linked: bool = False) -> Iterator[str]:
    """For a page. One with links is for eyes and a pointer; the table below it has the same links for everybody."""
    role = 'aria-hidden="true"' if linked else 'role="img"'
    yield f'<svg class="chart" viewBox="0 0 {frame.width} {frame.height}" {role}>\n<title>{escape(title)}</title>\n'
    yield from drawn
    yield "</svg>\n"


def _letters(labelled: Sequence[int]) -> int:
    """The widest of them decides: they are as far from each other."""
    return len(labelled) * max(len(f"{tick:,}") for tick in labelled)
