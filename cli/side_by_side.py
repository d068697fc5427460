"""Shared passages on a terminal: both texts side by side, with a little of what is around them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle, wrap
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.compare import Passage
from opensearch_winnow.queries.numbered_passages import NumberedPassage, numbered_passages

NARROW = 60  # columns; below, two of them are hard to read, and A stands above B
AROUND = 60  # characters of context on each side
# Of a passage above LONG characters these are shown: at 80 columns eight lines of its beginning, and four of its end.
LONG, BEGINNING, END = 600, 300, 150
BETWEEN = " │ "


class SideBySide:
    """Draws passages of two texts, for a terminal of some width. `full` shortens none."""

    def __init__(self, terminal: Terminal, a: str, b: str, *, full: bool = False) -> None:
        self.terminal = terminal
        self.a = a
        self.b = b
        self.full = full
        self.narrow = terminal.columns < NARROW
        self.columns = max(terminal.columns if self.narrow else (terminal.columns - len(BETWEEN)) // 2, 10)

    def names(self, a: str, b: str) -> Iterator[str]:
        """The heading: what A is, and what B."""
        left, right = (
            [(letter, "bold"), (f" {shorten_middle(one_line(name), self.columns - 2)}", "plain")]
            for letter, name in (("A", a), ("B", b))
        )
        return self._beside([left], [right])

    def passage(self, each: NumberedPassage) -> Iterator[str]:
        start, end, other_start, other_end = each.passage
        facts = f" {each.size} · {_offsets(each.passage)}" + " · moved" * each.moved
        yield self.terminal.line([(f"[{each.number}]", str(each.number)), (facts, "plain")])
        left = self._excerpt(self.a, start, end, each.number)
        right = self._excerpt(self.b, other_start, other_end, each.number)
        yield from self._wrapped(left, right)

    def boilerplate(self, run: Passage) -> Iterator[str]:
        """A shared run that counts for nothing: without a number, a colour, or what is around it."""
        (each,) = numbered_passages(self.a, [run])
        yield self.terminal.line([(f"boilerplate {each.size} · {_offsets(run)}", "dim")])
        left = self._shortened(self.a, run.start, run.end, "dim")
        right = self._shortened(self.b, run.other_start, run.other_end, "dim")
        yield from self._wrapped(left, right)

    def _wrapped(self, left: list[Span], right: list[Span]) -> Iterator[str]:
        ours, theirs = wrap(left, self.columns), wrap(right, self.columns)
        if self.narrow:
            ours.insert(0, [("A", "bold")])
            theirs.insert(0, [("B", "bold")])
        yield from self._beside(ours, theirs)

    def _beside(self, left: list[list[Span]], right: list[list[Span]]) -> Iterator[str]:
        if self.narrow:
            yield from map(self.terminal.line, left + right)
        else:
            between = self.terminal.paint(BETWEEN, "dim")
            for ours, theirs in zip_longest(left, right, fillvalue=list[Span]()):
                yield self.terminal.line(ours, self.columns) + between + self.terminal.line(theirs)

    def _excerpt(self, text: str, start: int, end: int, number: int) -> list[Span]:
        before = one_line(text[max(start - AROUND, 0) : start])
        after = one_line(text[end : end + AROUND])
        if start > AROUND:
            before = "…" + before[max(before.find(" "), 0) :]
        if end + AROUND < len(text):
            after = after[: after.rfind(" ") + 1 or None] + "…"
        passage = self._shortened(text, start, end, str(number))
        if not self.terminal.colour:  # then the number has to say where the passage ends as well
            passage = [(f"[{number}] ", "plain"), *passage, (f" [/{number}]", "plain")]
        return [(before, "dim"), *passage, (after, "dim")]

    def _shortened(self, text: str, start: int, end: int, style: str) -> list[Span]:
        if self.full or end - start <= LONG:
            return [(one_line(text[start:end]), style)]
        beginning_ends = text.rfind(" ", start + BEGINNING // 2, start + BEGINNING)
        if beginning_ends < 0:
            beginning_ends = start + BEGINNING
        end_begins = text.find(" ", end - END, end - END // 2) + 1 or end - END
        left_out = len(canonical_text(text[beginning_ends:end_begins]).words)
        return [
            (one_line(text[start:beginning_ends]), style),
            (f" … {left_out:,} words … ", "dim"),
            (one_line(text[end_begins:end]), style),
        ]


def _offsets(run: Passage) -> str:
    return f"A {run.start:,}–{run.end:,} · B {run.other_start:,}–{run.other_end:,}"
