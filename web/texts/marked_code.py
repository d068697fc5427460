"""Renders a program as HTML, line by line and with line numbers, with its passages marked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.queries.spans import Span, merged_spans
from opensearch_winnow.web.texts.marked_text import Marking, Stretch, again, escaped, mark, numbers, stretches

MAX_UNFOLDED_LINES = 60  # more of them that are not shared are folded,
FOLD_EDGE_LINES = 10  # except for these beside the passages
BLOCK_LINES = 60  # a browser lays out only the blocks in view
GREY = '<span class="boilerplate" title="boilerplate">'  # there is no room for the word beside a line
LINE_END = re.compile(r"\r\n|\r|\n")


class Gap(NamedTuple):
    """A part of a program that is folded, or not shown at all."""

    start: int
    end: int
    folded: bool


def marked_code(
    text: str, spans: Mapping[int, Span], marking: Marking, boilerplate: Sequence[Span] = ()
) -> Iterator[str]:
    """Yield the HTML of a program in pieces, as `marked_text` does for a text. Numbers stand beside the lines."""
    starts = line_starts(text)
    gaps = {gap.start: gap for gap in _gaps(text, starts, spans, marking, boilerplate)}
    ends = {gap.end for gap in gaps.values() if gap.folded}
    cuts = {*starts, *(offset for gap in gaps.values() for offset in (gap.start, gap.end))}
    lines = _CodeLines(starts)
    left_out_until, before = 0, None
    yield lines.open(0)
    for each in stretches(len(text), spans, boilerplate, cuts):
        if each.start in ends:
            yield from lines.between("</details>", each.start)
        if gap := gaps.get(each.start):
            if gap.folded:
                count = count_of(bisect_right(starts, gap.end - 1) - bisect_right(starts, gap.start) + 1, "line")
                yield from lines.between(f'<details class="fold"><summary>{count} not shared</summary>', each.start)
            else:
                left_out_until = gap.end
                note = f'<p class="left-out">{gap.end - gap.start:,} characters left out</p>'
                yield from lines.between(note, gap.end)
        if each.start < left_out_until:
            continue
        yield from lines.write(each, text, marking, before)
        before = each
    yield from lines.close()


def line_starts(text: str) -> list[int]:
    """Return the offsets of the lines. An empty line at the end does not count, as in an editor."""
    ends = [match.end() for match in LINE_END.finditer(text)]
    return [0, *(end for end in ends if end < len(text))]


def lines_of(starts: Sequence[int], span: Span) -> Span:
    """Return the numbers of the first and last line of a span."""
    return bisect_right(starts, span[0]), bisect_right(starts, max(span[1] - 1, span[0]))


def count_lines(text: str, starts: Sequence[int], span: Span) -> int:
    """Count the lines of a passage. A line does not count if it is empty, or less than half of it is in the passage."""
    first, last = lines_of(starts, span)
    count = 0
    for start, end in pairwise((*starts[first - 1 : last], *(starts[last : last + 1] or [len(text)]))):
        inside = _visible(text[max(start, span[0]) : min(end, span[1])])
        count += bool(inside) and 2 * inside >= _visible(text[start:end])
    return max(count, 1)


def _visible(text: str) -> int:
    return sum(map(len, text.split()))


def _gaps(
    text: str, starts: Sequence[int], spans: Mapping[int, Span], marking: Marking, boilerplate: Sequence[Span]
) -> Iterator[Gap]:
    visible = [(0, len(text))] if marking.visible is None else marking.visible
    hidden = list(zip((0, *(end for _, end in visible)), (*(start for start, _ in visible), len(text)), strict=True))
    longest = marking.max_stretch_chars
    for each in stretches(len(text), spans, boilerplate):
        if longest is not None and each.end - each.start > longest:
            hidden.append((each.start + longest // 2, each.end - longest // 2))
        elif marking.fold and not each.passages and not each.grey:
            first, last = bisect_right(starts, each.start), bisect_right(starts, each.end - 1)
            is_shown = any(start <= each.start and each.end <= end for start, end in visible)
            if is_shown and last - first >= MAX_UNFOLDED_LINES:
                yield Gap(starts[first - 1 + FOLD_EDGE_LINES], starts[last - FOLD_EDGE_LINES], folded=True)
    yield from (Gap(*span, folded=False) for span in merged_spans(span for span in hidden if span[0] < span[1]))


class _Piece(NamedTuple):
    """A part of a line."""

    text: str
    opening: str  # its tag; empty: it is not shared
    closing: str


class _CodeLines:
    """Writes stretches, each within one line, into lines, and lines into blocks."""

    def __init__(self, starts: Sequence[int]) -> None:
        self.starts = starts
        self.used = 0  # lines of the block
        self.line = 0  # the number of the line that is being written; 0: none
        self.beside: list[str] = []  # numbers of the passages that begin in it
        self.pieces: list[_Piece] = []

    def open(self, offset: int) -> str:
        self.used = 0
        return f'<div class="block" data-at="{offset}">'

    def write(self, each: Stretch, text: str, marking: Marking, before: Stretch | None) -> Iterator[str]:
        number = bisect_right(self.starts, each.start)
        if number != self.line:
            yield from self._end_line()
            if self.used == BLOCK_LINES:
                yield "</div>" + self.open(each.start)
            self.line = number
        opening = closing = ""
        if each.passages:
            begun = "".join(numbers(each.begun, marking))
            is_other = before is None or before.end != each.start or before.named[:1] != each.named[:1]
            if not begun and is_other:  # a passage on top of it has ended, or text before it is left out
                begun = again(marking.source(each.named[0]))
            self.beside.append(begun)
            opening, closing = mark(each, marking), "</mark>"
        elif each.grey:
            opening, closing = GREY, "</span>"
        self.pieces.append(_Piece(text[each.start : each.end], opening, closing))

    def between(self, html: str, offset: int) -> Iterator[str]:
        """End the block, and begin another after `html`."""
        yield from self._end_line()
        yield f"</div>{html}{self.open(offset)}"

    def close(self) -> Iterator[str]:
        yield from self._end_line()
        yield "</div>"

    def _end_line(self) -> Iterator[str]:
        if self.line:
            beside = "".join(self.beside)
            numbered = f'<span class="at">{beside}</span>' if beside else ""
            whole, content = self._content()
            yield f'<div class="row{whole}" data-line="{self.line}">{numbered}<code>{content}</code></div>'
            self.used += 1
        self.line, self.beside, self.pieces = 0, [], []

    def _content(self) -> tuple[str, str]:
        """Return the HTML of a line, and the class of one that is marked as a whole, with its indentation."""
        visible = [piece for piece in self.pieces if piece.text.strip()] or self.pieces
        if visible[0].opening and all(piece.opening == visible[0].opening for piece in visible):
            text = "".join(piece.text for piece in self.pieces)
            return " whole", visible[0].opening + escaped(text) + visible[0].closing
        return "", "".join(piece.opening + escaped(piece.text) + piece.closing for piece in self.pieces)
