"""A part of a paper's page: one experiment, with the paper's figures beside those measured here."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import TextWrapper, indent
from typing import NamedTuple

from benchmarks.papers.plot import Plot
from benchmarks.table import WIDTH, Table

WRAPPER = TextWrapper(WIDTH - 2, break_long_words=False, break_on_hyphens=False)


class Check(NamedTuple):
    """A measured figure and the bounds that it has to keep. A run that leaves them fails."""

    name: str
    measured: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        return self.low <= self.measured <= self.high

    def __str__(self) -> str:
        bounds = f"{self.low:.6g} to {self.high:.6g}" if self.low < self.high else f"exactly {self.low:.6g}"
        return f"{self.name}: {self.measured:.6g} (allowed: {bounds})"


@dataclass(frozen=True, slots=True)
class Part:
    """An experiment: `text` says what the paper did, and why a figure cannot be compared where it cannot."""

    title: str
    text: str  # paragraphs of Markdown with blank lines between them; they are wrapped when written
    table: Table | None = None
    plot: Plot | None = None
    checks: tuple[Check, ...] = ()

    def markdown(self) -> str:
        blocks = [f"## {self.title}", wrapped(self.text)]
        if self.table:
            blocks.append(self.table.markdown())
        if self.plot:
            blocks.append(f"![{self.plot.title}]({self.plot.name}.svg)")
        if self.checks:
            blocks.append("\n".join(["Checked by every run:", "", *(item(str(check)) for check in self.checks)]))
        return "\n\n".join(blocks)


def wrapped(text: str) -> str:
    """Return paragraphs of Markdown with lines that fit a screen."""
    return "\n\n".join(WRAPPER.fill(paragraph) for paragraph in text.strip().split("\n\n"))


def item(words: str) -> str:
    return indent(WRAPPER.fill(words), "  ").replace("  ", "- ", 1)
