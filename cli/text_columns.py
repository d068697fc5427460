"""The columns of a table for people: padded to the width of their cells, with bars for shares; and wrapped texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log10

from opensearch_winnow.answers.display_text import Span, width, wrap
from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.cli.terminal import bar

GAP = "  "
NO_BREAK = "\u00a0"  # keeps a number and its unit on one line
BAR_COLUMNS = 10
MAX_COUNT_BAR_COLUMNS = 30
MIN_TEXT_COLUMNS = 20  # a title or sentence in fewer columns says nothing


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column: its heading and its cells, which are aligned at the right if they are numbers."""

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


def count_lines(bins: Sequence[tuple[str, int]], heads: tuple[str, str], columns: int) -> Iterator[list[Span]]:
    """Yield a table of counts, with logarithmic bars and shares of their sum. `heads` are the headings of both."""
    total = sum(count for _, count in bins)
    names = TextColumn(heads[0], [label for label, _ in bins], right=True)
    counts = TextColumn(heads[1], [f"{count:,}" for _, count in bins], right=True)
    room = min(max(columns - names.columns - counts.columns - 3 * len(GAP) - len("100 %"), 5), MAX_COUNT_BAR_COLUMNS)
    bars = [
        f"{bar((1 + log10(count)) / (1 + log10(total)), room)}{GAP}{right(compact_percent(count / total), 5)}"
        if count
        else ""
        for _, count in bins
    ]
    head, lines = joined([names, counts, TextColumn("bars are logarithmic" * (room > MIN_TEXT_COLUMNS), bars)])
    yield from ([(line.rstrip(), "plain")] for line in (head, *lines))


def wrapped(text: str, columns: int, style: str = "plain") -> Iterator[list[Span]]:
    """Yield the lines of a text that is wrapped."""
    for line in wrap([(text.replace(" %", f"{NO_BREAK}%"), style)], max(columns, MIN_TEXT_COLUMNS)):
        yield [(part.replace(NO_BREAK, " "), style) for part, style in line]


def heading(text: str, columns: int) -> Iterator[list[Span]]:
    """Yield an empty line, then the lines of a heading."""
    yield []
    yield from wrapped(text, columns, "bold")


def left(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    return " " * (columns - width(text)) + text
