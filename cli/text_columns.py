"""The columns of a table for people: padded to the width of their cells, with bars for shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opensearch_winnow.answers.display_text import width
from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.cli.terminal import bar

GAP = "  "
BAR_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column: its heading and its cells, which are at the right if they are numbers."""

    head: str
    cells: Sequence[str]
    right: bool = False

    @property
    def columns(self) -> int:
        """The width of the widest cell, or of the heading."""
        return max(map(width, (self.head, *self.cells)))

    def padded(self) -> list[str]:
        """Return the heading and the cells, all of the same width."""
        pad = right if self.right else left
        return [pad(each, self.columns) for each in (self.head, *self.cells)]


def share_column(head: str, shares: Sequence[float | None], texts: Sequence[str] | None = None) -> TextColumn:
    """Return a column of shares with bars. `texts` are the shares as they are written, by default in per cent."""
    written = texts or ["–" if share is None else compact_percent(share) for share in shares]
    widest = max(map(width, written), default=0)
    cells = [f"{right(text, widest)} {bar(share or 0.0)}" for share, text in zip(shares, written, strict=True)]
    return TextColumn(head, cells)


def percent_column(head: str, shares: Sequence[float]) -> TextColumn:
    """Return a column of shares in per cent."""
    return TextColumn(head, [compact_percent(share) for share in shares], right=True)


def joined(columns: Sequence[TextColumn]) -> tuple[str, list[str]]:
    """Return the headings of columns side by side, and the lines below them, all of the same width."""
    head, *lines = (GAP.join(row) for row in zip(*(each.padded() for each in columns), strict=True))
    return head, lines


def left(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    return " " * (columns - width(text)) + text
