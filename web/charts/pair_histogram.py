"""How alike the compared pairs are: a bar for each small range of resemblance, heights logarithmic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.web.charts.axes import Frame, LogScale, ShareScale, axes

FRAME = Frame()
GAP = 0.8  # between bars


def pair_histogram(bars: Sequence[int], threshold: float) -> Iterator[str]:
    """The bars from no resemblance to all of it. Those at or above the threshold have the colour of what is found."""
    across = ShareScale(FRAME.left, FRAME.right)
    up = LogScale(1, max(*bars, 1), FRAME.bottom - FRAME.inset, FRAME.top + FRAME.inset)
    yield from axes(FRAME, across, up, names=("resemblance of a pair", "pairs"))
    for place, pairs in enumerate(bars):
        if pairs:
            low, high = place / len(bars), (place + 1) / len(bars)
            left, right, top = across(low), across(high) - GAP, up(pairs)
            found = "found" if round(low, 6) >= round(threshold, 6) else "below"
            size = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{FRAME.bottom - top:.1f}"'
            yield f'<rect class="{found}" {size}><title>{in_words(place, len(bars), pairs)}</title></rect>\n'
    x = f"{across(threshold):.1f}"
    yield f'<path class="law" d="M{x} {FRAME.top}V{FRAME.bottom}"><title>threshold {compact_percent(threshold)}</title>'
    yield "</path>\n"


def in_words(place: int, bars: int, pairs: int) -> str:
    return f"{range_of(place, bars)}: {count_of(pairs, 'pair')}"


def range_of(place: int, bars: int) -> str:
    """Of the resemblances that a bar counts."""
    return f"{100 * place / bars:g}–{100 * (place + 1) / bars:g} %"
