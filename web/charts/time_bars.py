"""How many pages are from each month, or each year where there are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.web.charts.axes import Frame, LinearScale

FRAME = Frame(height=200, bottom=152)
MONTHS = 60  # that have a bar each; more are years
LABELS = 6


def periods(months: Mapping[str, int]) -> dict[str, int]:
    """From the first to the last, those without a page among them: months as 2024-03, or years."""
    if not months:
        return {}
    first, last = (12 * int(month[:4]) + int(month[5:]) - 1 for month in (min(months), max(months)))
    if last - first < MONTHS:
        named = (f"{at // 12:04}-{at % 12 + 1:02}" for at in range(first, last + 1))
        return {month: months.get(month, 0) for month in named}
    years: Counter[str] = Counter()
    for month, pages in months.items():
        years[month[:4]] += pages
    return {f"{year:04}": years[f"{year:04}"] for year in range(first // 12, last // 12 + 1)}


def time_bars(counts: Mapping[str, int]) -> Iterator[str]:
    up = LinearScale(max(counts.values()), FRAME.bottom, FRAME.top, most=4)
    for tick, label in up.labels(0).items():
        y = up(tick)
        yield f'<path class="grid" d="M{FRAME.left} {y:.1f}H{FRAME.right}"/>\n'
        yield f'<text class="end" x="{FRAME.left - 8}" y="{y + 4:.1f}">{label}</text>\n'
    step = (FRAME.right - FRAME.left) / len(counts)
    width = min(0.8 * step, 24)
    every = -(-len(counts) // LABELS)
    for place, (period, pages) in enumerate(counts.items()):
        middle = FRAME.left + (place + 0.5) * step
        if pages:
            size = f'x="{middle - width / 2:.1f}" y="{up(pages):.1f}" width="{width:.1f}"'
            words = f"{period}: {count_of(pages, 'page')}"
            yield f'<rect class="found" {size} height="{FRAME.bottom - up(pages):.1f}"><title>{words}</title></rect>\n'
        if place % every == 0:
            yield f'<text class="middle" x="{middle:.1f}" y="{FRAME.bottom + 19}">{period}</text>\n'
    middle = (FRAME.left + FRAME.right) / 2
    yield f'<text class="middle" x="{middle}" y="{FRAME.height - 8}">captured</text>\n'
