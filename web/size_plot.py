"""How many clusters have how many pages, as one SVG file: no script, and nothing from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from itertools import accumulate
from math import log10

from opensearch_winnow.answers.display_width import shorten_middle
from opensearch_winnow.answers.printable import one_line

WIDTH, HEIGHT = 760, 520
LEFT, RIGHT, TOP, BOTTOM = 84, WIDTH - 28, 92, HEIGHT - 66
INSET = 14  # between the frame and the outermost points
TITLE = 60  # characters of the name in the title

STYLE = """
text { font: 14px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1a1a1a; }
.title { font-size: 18px; font-weight: 600; }
.quiet { fill: #5c5c5c; font-size: 13px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.frame { fill: none; stroke: #5c5c5c; }
.grid { stroke: #dcdcdc; }
.steps { fill: none; stroke: #c05a00; stroke-width: 1.5; }
.points { fill: #0b57c2; fill-opacity: .75; }
"""


class Scale:
    """The numbers from `low` to `high` on one side of the frame, each decade as long as the other."""

    def __init__(self, low: int, high: int, start: float, end: float) -> None:
        self.ticks = ticks(low, high)
        self._low, self._start = log10(low), start
        self._by = (end - start) / (log10(self.ticks[-1]) - self._low)

    def __call__(self, number: float) -> float:
        return self._start + self._by * (log10(number) - self._low)


def ticks(low: int, high: int) -> list[int]:
    """1, 2, 5, 10, 20, 50 and so on, from `low`, one of these, to the first that is not below `high`: two at least."""
    found = [low]
    while len(found) < 2 or found[-1] < high:
        found.append(found[-1] * 5 // 2 if str(found[-1])[0] == "2" else found[-1] * 2)
    return found


def size_plot(sizes: Mapping[int, int], *, name: str, subtitle: str) -> Iterator[str]:
    """The picture in pieces. `sizes`: how many clusters have so many pages."""
    title = f"Clusters of {shorten_middle(one_line(name).strip(), TITLE)} by size"
    described = "Both axes are logarithmic: how many pages a cluster has, and how many clusters have so many."
    yield f"""<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" height="{HEIGHT}" \
viewBox="0 0 {WIDTH} {HEIGHT}">
<title>{escape(title)}</title>
<desc>{described}</desc>
<style>{STYLE}</style>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>
<text class="title" x="{LEFT}" y="34">{escape(title)}</text>
<text class="quiet" x="{LEFT}" y="56">{escape(subtitle)}</text>
"""
    total = sum(sizes.values())
    across = Scale(2, max(sizes, default=2), LEFT + INSET, RIGHT - INSET)
    up = Scale(1, max(total, 1), BOTTOM - INSET, TOP + INSET)
    yield from _axes(across, up)
    if sizes:
        yield from _legend()
        yield from _drawn(dict(sorted(sizes.items())), across, up)
    else:
        middle, half = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
        yield f'<text class="middle" x="{middle}" y="{half}">No two pages are in one cluster.</text>\n'
    yield "</svg>\n"


def _axes(across: Scale, up: Scale) -> Iterator[str]:
    for tick in across.ticks:
        x = f"{across(tick):.1f}"
        yield f'<path class="grid" d="M{x} {TOP}V{BOTTOM}"/>\n'
        if _is_labelled(tick, across):
            yield f'<text class="middle" x="{x}" y="{BOTTOM + 22}">{tick:,}</text>\n'
    for tick in up.ticks:
        y = up(tick)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>\n'
        if _is_labelled(tick, up):
            yield f'<text class="end" x="{LEFT - 10}" y="{y + 5:.1f}">{tick:,}</text>\n'
    yield f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}"/>\n'
    yield f'<text class="middle" x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 18}">pages of the cluster</text>\n'
    turned = f"translate(20 {(TOP + BOTTOM) / 2}) rotate(-90)"
    yield f'<text class="middle" transform="{turned}">clusters</text>\n'


def _is_labelled(tick: int, scale: Scale) -> bool:
    """All of them, as long as they do not crowd."""
    return len(scale.ticks) < 9 or str(tick)[0] == "1"


def _drawn(sizes: Mapping[int, int], across: Scale, up: Scale) -> Iterator[str]:
    """A point for each size; and a step down behind each, to the clusters that have more pages."""
    left = accumulate([sum(sizes.values()), *(-clusters for clusters in sizes.values())])
    path = f"M{across(2):.1f} "
    for pages, clusters in zip(sizes, left, strict=False):
        path += f"{'' if path.endswith(' ') else 'V'}{up(clusters):.1f}H{across(pages):.1f}"
    yield f'<path class="steps" d="{path}"/>\n<g class="points">\n'
    for pages, clusters in sizes.items():
        words = f"{clusters:,} cluster{'s' * (clusters > 1)} of {pages:,} pages"
        yield f'<circle cx="{across(pages):.1f}" cy="{up(clusters):.1f}" r="4"><title>{words}</title></circle>\n'
    yield "</g>\n"


def _legend() -> Iterator[str]:
    """Above the frame, where nothing is drawn."""
    x, y = LEFT, TOP - 12
    yield f'<circle class="points" cx="{x + 5}" cy="{y - 5}" r="4"/>\n'
    yield f'<text class="quiet" x="{x + 16}" y="{y}">clusters with exactly so many pages</text>\n'
    yield f'<path class="steps" d="M{x + 264} {y - 5}h24"/>\n'
    yield f'<text class="quiet" x="{x + 296}" y="{y}">with so many or more</text>\n'
