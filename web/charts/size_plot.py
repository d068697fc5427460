"""A plot of cluster sizes as a single SVG file, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from opensearch_winnow.answers.display_text import one_line, shorten_middle
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.web.charts.axes import Frame
from opensearch_winnow.web.charts.log_plot import LogPlot

FRAME = Frame(width=760, height=520, left=84, right=732, top=92, bottom=454, inset=14)
MAX_NAME_CHARS = 60  # of the store or folder, in the title
AXES = ("pages in the cluster", "clusters")

STYLE = """
text { font: 14px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1a1a1a; }
.title { font-size: 18px; font-weight: 600; }
.quiet { fill: #5c5c5c; font-size: 13px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.frame { fill: none; stroke: #5c5c5c; }
.grid { stroke: #dcdcdc; }
.steps { fill: none; stroke: #c05a00; stroke-width: 1.5; }
.some { stroke: #5c5c5c; stroke-dasharray: 4 3; }
.points { fill: #0b57c2; fill-opacity: .75; }
"""


def size_plot(
    sizes: Mapping[int, int], identical_sizes: Mapping[int, int], *, name: str, subtitle: str
) -> Iterator[str]:
    """Yield the SVG in pieces.

    `sizes` are the numbers of clusters by their number of pages; `identical_sizes` are those of clusters that have
    identical pages only.
    """
    title = f"Clusters of {shorten_middle(one_line(name).strip(), MAX_NAME_CHARS)} by size"
    description = "The number of clusters of each size, in pages. Both axes are logarithmic."
    width, height, left = FRAME.width, FRAME.height, FRAME.left
    yield f"""<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" \
viewBox="0 0 {width} {height}">
<title>{escape(title)}</title>
<desc>{description}</desc>
<style>{STYLE}</style>
<rect width="{width}" height="{height}" fill="#fff"/>
<text class="title" x="{left}" y="34">{escape(title)}</text>
<text class="quiet" x="{left}" y="56">{escape(subtitle)}</text>
"""
    plot = LogPlot(sizes, FRAME, low=2)
    yield from plot.axes(AXES)
    if sizes:
        yield from _legend(identical=bool(identical_sizes))
        yield from plot.steps(identical_sizes)
        yield from plot.steps()
        yield from plot.points(point_label)
    else:
        middle, half = (left + FRAME.right) / 2, (FRAME.top + FRAME.bottom) / 2
        yield f'<text class="middle" x="{middle}" y="{half}">No cluster has two pages or more.</text>\n'
    yield "</svg>\n"


def point_label(pages: int, clusters: int) -> str:
    return f"{count_of(clusters, 'cluster')} of {pages:,} pages"


def _legend(*, identical: bool) -> Iterator[str]:
    """Draw the legend above the frame."""
    x, y = FRAME.left, FRAME.top - 12
    yield f'<circle class="points" cx="{x + 5}" cy="{y - 5}" r="4"/>\n'
    yield f'<text class="quiet" x="{x + 16}" y="{y}">clusters of exactly this size</text>\n'
    yield f'<path class="steps" d="M{x + 264} {y - 5}h24"/>\n'
    yield f'<text class="quiet" x="{x + 296}" y="{y}">of this size or larger</text>\n'
    if identical:
        yield f'<path class="steps some" d="M{x + 448} {y - 5}h24"/>\n'
        yield f'<text class="quiet" x="{x + 480}" y="{y}">identical pages only</text>\n'
