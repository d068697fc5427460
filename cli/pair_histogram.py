"""Draws the histogram of compared pairs by resemblance with block characters, to help choose a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

from opensearch_winnow.answers.display_text import Span
from opensearch_winnow.answers.formatting import compact_percent

EIGHTHS = " ▁▂▃▄▅▆▇█"
ROWS = 6
LABELS = 5  # below the bars: 0, 20, 40, 60 and 80, before 100 %


def pair_histogram(bars: Sequence[int], threshold: float, columns: int) -> Iterator[list[Span]]:
    """Yield the lines of the histogram: a column for each bar, or for each two if `columns` are too few."""
    highest = f"{max(bars):,}"
    if len(bars) + len(highest) + len("  100 %") > columns:
        bars = [sum(pair) for pair in zip(bars[::2], bars[1::2], strict=True)]
        highest = f"{max(bars):,}"
    at = threshold_bar(threshold, len(bars))
    heights = [_height(count, max(bars)) for count in bars]
    for row in reversed(range(ROWS)):
        label = highest if row == ROWS - 1 else ""
        line = "".join(EIGHTHS[min(max(height - 8 * row, 0), 8)] for height in heights).rstrip()
        yield [(f"{label:>{len(highest)}} ", "plain"), (line[:at], "dim"), (line[at:], "plain")]
    step = len(bars) // LABELS
    axis = ("┬" + "─" * (step - 1)) * LABELS
    yield [(f"{'':{len(highest)}} {axis[:at]}▲{axis[at + 1 :]}", "plain")]
    yield [(f"{'':{len(highest)}} " + "".join(f"{20 * i:<{step}}" for i in range(LABELS)) + "100 %", "plain")]
    caption = f"▲ threshold {compact_percent(threshold)}"
    yield [(" " * (len(highest) + 1 + min(at, len(bars) + len("0 %") - len(caption))) + caption, "plain")]


def threshold_bar(threshold: float, bars: int) -> int:
    """Return the index of the bar that `threshold` is in."""
    return min(floor(round(threshold * bars, 6)), bars - 1)


def pairs_at_least(bars: Sequence[int]) -> list[tuple[float, int]]:
    """Count the pairs at or above the thresholds 0.1, 0.2 and so on, as long as there are any."""
    tenth = len(bars) // 10
    counts = [(step / 10, sum(bars[step * tenth :])) for step in range(1, 10)]
    return [(threshold, pairs) for threshold, pairs in counts if pairs]


def _height(count: int, highest: int) -> int:
    """Return the height in eighths of a row, on a logarithmic scale. A single pair is visible."""
    return max(round(8 * ROWS * (1 + log10(count)) / (1 + log10(highest))), 1) if count else 0
