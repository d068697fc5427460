"""A heatmap of the resemblance of each pair of pages: the more alike, the darker the cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from opensearch_winnow.answers.formatting import compact_percent

STEPS = 10  # colours, not counting the one for no resemblance
MAX_PAGES_WITH_NUMBERS = 16  # for more pages the cells are small, without a number in them
LARGE_CELL, SMALL_CELL = 32, 16  # pixels
ROW_LABEL_WIDTH = 26

Matrix = Sequence[Sequence[float | None]]  # resemblance of each page to those before it; None: unknown


def heatmap(matrix: Matrix, ids: Sequence[str]) -> Iterator[str]:
    """Draw the heatmap. Pages are numbered from 1, in the order of `ids`; each cell links to a comparison."""
    pages = len(ids)
    cell = LARGE_CELL if pages <= MAX_PAGES_WITH_NUMBERS else SMALL_CELL
    width, height = ROW_LABEL_WIDTH + pages * cell, pages * cell
    yield f'<svg class="heatmap" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">\n'
    for row in range(pages):
        middle = (row + 0.5) * cell
        if pages <= MAX_PAGES_WITH_NUMBERS or not row or (row + 1) % 5 == 0:
            yield f'<text class="end" x="{ROW_LABEL_WIDTH - 6}" y="{middle + 4:g}">{row + 1}</text>\n'
            yield f'<text class="middle" x="{ROW_LABEL_WIDTH + middle:g}" y="{middle + 4:g}">{row + 1}</text>\n'
        for column, share in enumerate(matrix[row]):
            if share is not None:
                label = f"{column + 1} and {row + 1}: {compact_percent(share)}"
                link = f"/compare/{escape(ids[column])}/{escape(ids[row])}"
                shape = "".join(_cell(share, ROW_LABEL_WIDTH + column * cell, row * cell, cell))
                yield f'<a href="{link}" tabindex="-1"><title>{escape(label)}</title>{shape}</a>\n'
    yield "</svg>\n"


def _cell(share: float, x: int, y: int, size: int) -> Iterator[str]:
    yield f'<rect class="h{step(share)}" x="{x}" y="{y}" width="{size - 1}" height="{size - 1}"/>'
    if size == LARGE_CELL:
        number = escape(compact_percent(share).removesuffix(" %"))
        place = f'x="{x + size / 2 - 0.5:g}" y="{y + size / 2 + 3.5:g}"'
        yield f'<text class="middle on{step(share)}" {place}>{number}</text>'


def step(share: float) -> int:
    """Return the colour step of a share. The last one is only for identical pages."""
    return STEPS if share >= 1 else int(share * STEPS)
