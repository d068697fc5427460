"""How alike each two of some pages are: a cell for each pair, darker the more they resemble each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from opensearch_winnow.answers.formatting import compact_percent

STEPS = 10  # colours, besides that of no resemblance
FEW = 16  # pages: then there is room for numbers
LARGE, SMALL = 32, 16  # cells, in pixels
EDGE = 26  # for the labels of rows

Shares = Sequence[Sequence[float | None]]  # of each page with those before it; None: not known


def heatmap(shares: Shares, ids: Sequence[str]) -> Iterator[str]:
    """Pages are numbered from 1, as in the list of them. Each cell leads to the comparison of its two."""
    pages = len(ids)
    cell = LARGE if pages <= FEW else SMALL
    width, height = EDGE + pages * cell, pages * cell
    yield f'<svg class="heatmap" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">\n'
    for row in range(pages):
        middle = (row + 0.5) * cell
        if pages <= FEW or not row or (row + 1) % 5 == 0:
            yield f'<text class="end" x="{EDGE - 6}" y="{middle + 4:g}">{row + 1}</text>\n'
            yield f'<text class="middle" x="{EDGE + middle:g}" y="{middle + 4:g}">{row + 1}</text>\n'
        for column, share in enumerate(shares[row]):
            if share is not None:
                words = f"{column + 1} and {row + 1}: {compact_percent(share)}"
                link = f"/compare/{escape(ids[column])}/{escape(ids[row])}"
                shape = "".join(_cell(share, EDGE + column * cell, row * cell, cell))
                yield f'<a href="{link}" tabindex="-1"><title>{escape(words)}</title>{shape}</a>\n'
    yield "</svg>\n"


def _cell(share: float, x: int, y: int, size: int) -> Iterator[str]:
    yield f'<rect class="h{step(share)}" x="{x}" y="{y}" width="{size - 1}" height="{size - 1}"/>'
    if size == LARGE:
        number = escape(compact_percent(share).removesuffix(" %"))
        place = f'x="{x + size / 2 - 0.5:g}" y="{y + size / 2 + 3.5:g}"'
        yield f'<text class="middle on{step(share)}" {place}>{number}</text>'


def step(share: float) -> int:
    """The colour of a share: the last one is for equal pages alone."""
    return STEPS if share >= 1 else int(share * STEPS)
