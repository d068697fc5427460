"""The tables that a benchmark returns, for the terminal and README.md, and the size of a run."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 120  # columns of a line of prose


@dataclass(frozen=True, slots=True)
class Run:
    """The size of a run: scale 1 for reliable figures, much less to see that everything works."""

    scale: float = 1.0
    offline: bool = False  # leave out peers that need a download

    def size(self, full: int, least: int = 1) -> int:
        return max(least, int(full * self.scale))


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    missing: Sequence[str] = ()  # a line for each peer that could not be measured

    def markdown(self) -> str:
        rows = [*self.rows, *((why, *[""] * (len(self.columns) - 1)) for why in self.missing)]
        widths = [max(map(len, column)) for column in zip(self.columns, *rows, strict=True)]
        lines = [self._line(self.columns, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
        lines += [self._line(row, widths) for row in rows]
        return "\n".join([f"**{self.title}**", "", *lines, *(["", *wrap(self.note, WIDTH)] if self.note else [])])

    @staticmethod
    def _line(cells: tuple[str, ...], widths: list[int]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def percent(share: float, digits: int = 0) -> str:
    return f"{share:.{digits}%}".replace("%", " %")


def times(ratio: float) -> str:
    """Return a ratio with its significant digits."""
    return f"{ratio:.0f} ×" if ratio >= 20 else f"{ratio:.1f} ×"
