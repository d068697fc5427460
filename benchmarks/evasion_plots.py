"""Draws the curves of docs/limits.md from the tables of the benchmark evasion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.papers.plot import Plot
from benchmarks.table import Table

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"


class Curves(NamedTuple):
    name: str  # of the picture
    schemes: tuple[str, ...]  # the others are on top of one of these


# By title of the table.
DRAWN = {
    "Other words": Curves("evasion-words", ("pages", "passages", "consonants", "koala")),
    "Other letters": Curves("evasion-letters", ("pages", "passages", "consonants", "koala")),
    "Letters that look alike": Curves("evasion-homoglyphs", ("pages", "passages", "consonants", "koala", "folded")),
    "Another order": Curves("evasion-order", ("pages", "passages", "consonants", "koala")),
    "Hidden words": Curves("evasion-hidden", ("pages", "passages", "consonants", "koala")),
}


def plots(tables: Iterable[Table]) -> Iterator[Plot]:
    for table in tables:
        if table.title in DRAWN:
            name, schemes = DRAWN[table.title]
            series: dict[str, list[tuple[float, float]]] = {scheme: [] for scheme in schemes}
            for strength, *cells in table.rows:
                for column, each in zip(table.columns[1:], cells, strict=True):
                    if column.strip("`") in series:
                        series[column.strip("`")].append((float(strength), percent(each)))
            yield Plot(name, table.title, table.columns[0], "% found among the first ten", series, log_x=True)


def percent(found: str) -> float:
    """Return the second number of a cell."""
    return float(found.rpartition("·")[2].strip(" %"))


def write_plots(tables: Iterable[Table]) -> None:
    for plot in plots(tables):
        (PICTURES / f"{plot.name}.svg").write_text(plot.svg(), encoding="utf-8")
