"""How alike the compared pairs are, drawn with block characters: where to put the threshold shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

from opensearch_winnow.answers.display_text import Span
from opensearch_winnow.answers.formatting import compact_percent

EIGHTHS = " ▁▂▃▄▅▆▇█"
ROWS = 6
LABELS = 5  # below the bars: 0, 20 and so on, before 100 %


def pair_histogram(bars: Sequence[int], threshold: float, columns: int) -> Iterator[list[Span]]:
    """Its lines, a column for each bar, or for two where there is no room. Heights are logarithmic."""
    most = f"{max(bars):,}"
    if len(bars) + len(most) + len("  100 %") > columns:
        bars = [sum(pair) for pair in zip(bars[::2], bars[1::2], strict=True)]
        most = f"{max(bars):,}"
    at = mark(threshold, len(bars))
    heights = [_height(count, max(bars)) for count in bars]
    for row in reversed(range(ROWS)):
        label = most if row == ROWS - 1 else ""
        line = "".join(EIGHTHS[min(max(height - 8 * row, 0), 8)] for height in heights).rstrip()
        yield [(f"{label:>{len(most)}} ", "plain"), (line[:at], "dim"), (line[at:], "plain")]
    step = len(bars) // LABELS
    axis = ("┬" + "─" * (step - 1)) * LABELS
    yield [(f"{'':{len(most)}} {axis[:at]}▲{axis[at + 1 :]}", "plain")]
    yield [(f"{'':{len(most)}} " + "".join(f"{20 * label:<{step}}" for label in range(LABELS)) + "100 %", "plain")]
    words = f"▲ threshold {compact_percent(threshold)}"
    yield [(" " * (len(most) + 1 + min(at, len(bars) + len("0 %") - len(words))) + words, "plain")]


def mark(threshold: float, bars: int) -> int:
    """The bar that a threshold is in."""
    return min(floor(round(threshold * bars, 6)), bars - 1)


def pairs_at_least(bars: Sequence[int]) -> list[tuple[float, int]]:
    """How many pairs would be at or above thresholds of a tenth, two tenths and so on, as long as there are any."""
    tenth = len(bars) // 10
    counts = [(step / 10, sum(bars[step * tenth :])) for step in range(1, 10)]
    return [(least, pairs) for least, pairs in counts if pairs]


def _height(count: int, most: int) -> int:
    """In eighths of a row. One pair is seen."""
    return max(round(8 * ROWS * (1 + log10(count)) / (1 + log10(most))), 1) if count else 0
