"""Bar charts: compared pairs by resemblance, and pages by the time of their capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.web.charts.axes import Frame, LinearScale, LogScale, ShareScale, axes

PAIR_FRAME = Frame()
PAIR_BAR_GAP = 0.8
TIME_FRAME = Frame(height=200, bottom=152)
MAX_MONTHS = 60  # with a bar each; a longer time is shown by year
MAX_TIME_LABELS = 6


def pair_histogram(bars: Sequence[int], threshold: float | None, *, score: str = "resemblance") -> Iterator[str]:
    """Draw `bars`, the numbers of pairs in equal ranges of a score from 0 to 1, with logarithmic heights.

    Bars at or above the threshold, if there is one, have the colour of matches.
    """
    x_scale = ShareScale(PAIR_FRAME.left, PAIR_FRAME.right)
    low_y, high_y = PAIR_FRAME.bottom - PAIR_FRAME.inset, PAIR_FRAME.top + PAIR_FRAME.inset
    y_scale = LogScale(1, max(*bars, 1), low_y, high_y)
    yield from axes(PAIR_FRAME, x_scale, y_scale, names=(f"{score} of a pair", "pairs"))
    for i, pairs in enumerate(bars):
        if pairs:
            low, high = i / len(bars), (i + 1) / len(bars)
            left, right, top = x_scale(low), x_scale(high) - PAIR_BAR_GAP, y_scale(pairs)
            kind = "found" if threshold is None or round(low, 6) >= round(threshold, 6) else "below"
            size = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{PAIR_FRAME.bottom - top:.1f}"'
            yield f'<rect class="{kind}" {size}><title>{bar_label(i, len(bars), pairs)}</title></rect>\n'
    if threshold is None:
        return
    line = f"M{x_scale(threshold):.1f} {PAIR_FRAME.top}V{PAIR_FRAME.bottom}"
    yield f'<path class="law" d="{line}"><title>threshold {compact_percent(threshold)}</title></path>\n'


def bar_label(index: int, bars: int, pairs: int) -> str:
    return f"{bar_range(index, bars)}: {count_of(pairs, 'pair')}"


def bar_range(index: int, bars: int) -> str:
    """Return the range of resemblance of the bar at `index`, such as "80–85 %"."""
    return f"{100 * index / bars:g}–{100 * (index + 1) / bars:g} %"


def time_periods(months: Mapping[str, int]) -> dict[str, int]:
    """Return the pages of each month (2024-03), or of each year if there are many, from the first to the last.

    Periods without a page are included.
    """
    if not months:
        return {}
    first, last = (12 * int(month[:4]) + int(month[5:]) - 1 for month in (min(months), max(months)))
    if last - first < MAX_MONTHS:
        names = (f"{at // 12:04}-{at % 12 + 1:02}" for at in range(first, last + 1))
        return {month: months.get(month, 0) for month in names}
    years: Counter[str] = Counter()
    for month, pages in months.items():
        years[month[:4]] += pages
    return {f"{year:04}": years[f"{year:04}"] for year in range(first // 12, last // 12 + 1)}


def time_bars(counts: Mapping[str, int]) -> Iterator[str]:
    """Draw a bar for the number of pages in each of the `time_periods`."""
    frame = TIME_FRAME
    y_scale = LinearScale(max(counts.values()), frame.bottom, frame.top, max_ticks=4)
    for tick, label in y_scale.labels(0).items():
        y = y_scale(tick)
        yield f'<path class="grid" d="M{frame.left} {y:.1f}H{frame.right}"/>\n'
        yield f'<text class="end" x="{frame.left - 8}" y="{y + 4:.1f}">{label}</text>\n'
    step = (frame.right - frame.left) / len(counts)
    width = min(0.8 * step, 24)
    bars_per_label = -(-len(counts) // MAX_TIME_LABELS)
    for i, (period, pages) in enumerate(counts.items()):
        middle = frame.left + (i + 0.5) * step
        if pages:
            top = y_scale(pages)
            size = f'x="{middle - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{frame.bottom - top:.1f}"'
            yield f'<rect class="found" {size}><title>{period}: {count_of(pages, "page")}</title></rect>\n'
        if i % bars_per_label == 0:
            yield f'<text class="middle" x="{middle:.1f}" y="{frame.bottom + 19}">{period}</text>\n'
    middle = (frame.left + frame.right) / 2
    yield f'<text class="middle" x="{middle}" y="{frame.height - 8}">captured</text>\n'
