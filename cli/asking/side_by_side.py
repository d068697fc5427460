"""Shared passages on a terminal: both texts side by side, each passage with some context."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from opensearch_winnow.answers.asking.compared import Compared
from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle, wrap
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage
from opensearch_winnow.queries.scores import Passage

MIN_COLUMNS_FOR_TWO = 60  # on a narrower terminal A is above B: two columns would be hard to read
CONTEXT_CHARS = 60  # before and after a passage
# A longer passage is shortened to its beginning and end: at 80 columns, eight lines and four.
MAX_PASSAGE_CHARS, BEGINNING_CHARS, END_CHARS = 600, 300, 150
SEPARATOR = " │ "
NEWLINE = "\n"


class SideBySide:
    """Draws passages of two texts for a terminal; with `full`, long passages are not shortened."""

    def __init__(self, terminal: Terminal, compared: Compared, *, full: bool = False) -> None:
        self.terminal = terminal
        self.code = compared.scheme.form == "code"
        self.a, self.b = compared.a, compared.b
        self.full = full
        self.narrow = terminal.columns < MIN_COLUMNS_FOR_TWO
        self.columns = max(terminal.columns if self.narrow else (terminal.columns - len(SEPARATOR)) // 2, 10)

    def names(self) -> Iterator[str]:
        """Yield the heading with the names of A and B."""
        left, right = (
            [(letter, "bold"), (f" {shorten_middle(one_line(side.title or ''), self.columns - 2)}", "plain")]
            for letter, side in (("A", self.a), ("B", self.b))
        )
        return self._beside([left], [right])

    def passage(self, each: NumberedPassage) -> Iterator[str]:
        """Yield the lines of a passage: its number, size and offsets, then both texts."""
        start, end, other_start, other_end = each.passage
        facts = f" {each.size} · {_offsets(each.passage)}" + " · moved" * each.moved
        yield self.terminal.line([(f"[{each.number}]", str(each.number)), (facts, "plain")])
        left = self._excerpt(self.a.text, start, end, each.number)
        right = self._excerpt(self.b.text, other_start, other_end, each.number)
        yield from self._wrapped(left, right)

    def boilerplate(self, each: NumberedPassage) -> Iterator[str]:
        """Yield the lines of a run of boilerplate: without a number, colour or context, because it does not count."""
        run = each.passage
        yield self.terminal.line([(f"boilerplate {each.size} · {_offsets(run)}", "dim")])
        left = self._shortened(self.a.text, run.start, run.end, "dim")
        right = self._shortened(self.b.text, run.other_start, run.other_end, "dim")
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
            between = self.terminal.paint(SEPARATOR, "dim")
            for ours, theirs in zip_longest(left, right, fillvalue=list[Span]()):
                yield self.terminal.line(ours, self.columns) + between + self.terminal.line(theirs)

    def _excerpt(self, text: str, start: int, end: int, number: int) -> list[Span]:
        before = one_line(text[max(start - CONTEXT_CHARS, 0) : start])
        after = one_line(text[end : end + CONTEXT_CHARS])
        if start > CONTEXT_CHARS:
            before = "…" + before[max(before.find(" "), 0) :]
        if end + CONTEXT_CHARS < len(text):
            after = after[: after.rfind(" ") + 1 or None] + "…"
        passage = self._shortened(text, start, end, str(number))
        if not self.terminal.colour:  # without colour, numbers mark where the passage starts and ends
            passage = [(f"[{number}] ", "plain"), *passage, (f" [/{number}]", "plain")]
        return [(before, "dim"), *passage, (after, "dim")]

    def _shortened(self, text: str, start: int, end: int, style: str) -> list[Span]:
        if self.full or end - start <= MAX_PASSAGE_CHARS:
            return [(one_line(text[start:end]), style)]
        beginning_ends = text.rfind(" ", start + BEGINNING_CHARS // 2, start + BEGINNING_CHARS)
        if beginning_ends < 0:
            beginning_ends = start + BEGINNING_CHARS
        end_begins = text.find(" ", end - END_CHARS, end - END_CHARS // 2) + 1 or end - END_CHARS
        left_out = text[beginning_ends:end_begins]
        size = f"{left_out.count(NEWLINE):,} lines" if self.code else f"{len(canonical_text(left_out).words):,} words"
        return [
            (one_line(text[start:beginning_ends]), style),
            (f" … {size} … ", "dim"),
            (one_line(text[end_begins:end]), style),
        ]


def _offsets(run: Passage) -> str:
    return f"A {run.start:,}–{run.end:,} · B {run.other_start:,}–{run.other_end:,}"
