"""Renders a text as HTML with its passages, which may overlap, marked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice, pairwise
from typing import NamedTuple

from opensearch_winnow.answers.display_text import printable
from opensearch_winnow.queries.spans import Span

COLOURS = 8
MAX_UNFOLDED_CHARS = 2_000  # a longer stretch that is not shared is folded,
FOLD_EDGE_CHARS = 300  # except for this much beside the passages
REPEAT_NUMBER_AFTER_CHARS = 200  # a reader may have forgotten the number of a passage by then,
MIN_REPEATED_CHARS = 40  # but a number on every few words would tear the text
# If a paragraph of one text is in the other a hundred times, a hundred passages begin at the same offset.
MAX_NUMBERS_SHOWN = 3  # at one offset; the hidden ones can still be jumped to
# A browser lays out only the blocks in view, so that a file of megabytes opens at once. A block ends with the first
# line that ends after BLOCK_CHARS, or is cut if no line ends within MAX_EXTRA_LINE_CHARS more.
BLOCK_CHARS = 3_000
MAX_EXTRA_LINE_CHARS = 9_000
MAX_PASSAGES_NAMED = 16  # of those that cover a stretch: the last to begin
GREY, LABEL = '<span class="boilerplate">', '<span class="n again">boilerplate</span>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """The marks of the passages of a text. Passage n has the HTML id {own}{n} and links to {partner}{n}."""

    own: str
    partner: str
    source: Callable[[int], int] = lambda number: number  # the number that is shown and linked to, and its colour
    fold: bool = True  # long stretches that are not shared
    elsewhere: Callable[[int], str | None] = lambda _number: None  # address of a passage shown on another page, or None
    visible: Sequence[Span] | None = None  # the parts of the text to show, disjoint and in order; None: all of it
    max_stretch_chars: int | None = None  # the middle of a longer stretch is left out


class Stretch(NamedTuple):
    """A part of a text that is covered by the same passages from its start to its end."""

    start: int
    end: int
    begun: Sequence[int]  # numbers of the passages that begin here
    named: Sequence[int]  # numbers of up to MAX_PASSAGES_NAMED passages that cover it, the last to begin first
    passages: int  # how many cover it
    grey: bool  # True if it is boilerplate


def colour(number: int) -> str:
    """Return the CSS class for the colour of a passage."""
    return f"c{(number - 1) % COLOURS + 1}"


def marked_text(
    text: str, spans: Mapping[int, Span], marking: Marking, boilerplate: Sequence[Span] = ()
) -> Iterator[str]:
    """Yield the HTML of the text in pieces. `spans` are the passages by number.

    Boilerplate has no number, and is marked only outside of passages.
    """
    visible = [(0, len(text))] if marking.visible is None else marking.visible
    begins, stops = {start for start, _ in visible}, {end for _, end in visible}
    blocks = Blocks(text, marking.max_stretch_chars)
    is_visible = labelled = False
    left_out_from = 0
    yield blocks.open(0)
    for each in stretches(len(text), spans, boilerplate, begins | stops):
        if each.start in stops:
            is_visible, left_out_from = False, each.start
        if each.start in begins:
            is_visible = True
            yield from blocks.left_out(left_out_from, each.start)
        if not is_visible:
            continue
        if each.passages:
            top = each.named[0]
            begun = "".join(numbers(each.begun, marking))
            is_far = each.start - spans[top][0] > REPEAT_NUMBER_AFTER_CHARS
            is_long = each.end - each.start >= MIN_REPEATED_CHARS
            if not begun and ((is_far and is_long) or each.start in begins):
                # A passage on top of it has ended, and this one goes on.
                begun = again(marking.source(top))
            yield from blocks.write(each.start, each.end, mark(each, marking), begun, "</mark>")
        elif each.grey:
            yield from blocks.write(each.start, each.end, GREY, "" if labelled else LABEL, "</span>")
        elif marking.fold:
            yield from _unshared(blocks, each.start, each.end)
        else:
            yield from blocks.write(each.start, each.end)
        labelled = each.grey and not each.passages
    if not is_visible:
        yield from blocks.left_out(left_out_from, len(text))
    yield blocks.CLOSE


def stretches(
    length: int, spans: Mapping[int, Span], boilerplate: Iterable[Span] = (), cuts: Iterable[int] = ()
) -> Iterator[Stretch]:
    """Cut a text where passages and boilerplate begin and end, and also at `cuts`; yield all of it in order.

    `spans` are the passages by number.
    """
    starts, ends = defaultdict(list), defaultdict(list)
    for number, (start, end) in spans.items():
        starts[start].append(number)
        ends[end].append(number)
    changes: Counter[int] = Counter()  # by how much the number of overlapping boilerplate spans changes at an offset
    for start, end in boilerplate:
        changes[start] += 1
        changes[end] -= 1
    active: dict[int, None] = {}  # passages that cover the offset, in the order they began
    grey = 0
    for offset, after in pairwise(sorted({0, length, *starts, *ends, *changes, *cuts})):
        for number in ends.get(offset, ()):
            del active[number]
        begun = starts.get(offset, ())
        active.update(dict.fromkeys(begun))
        grey += changes[offset]
        named = list(islice(reversed(active), MAX_PASSAGES_NAMED))
        yield Stretch(offset, after, begun, named, len(active), grey > 0)


def mark(each: Stretch, marking: Marking) -> str:
    """Return the tag that opens a stretch that is shared."""
    named = sorted(each.named)
    classes = " ".join(
        (colour(marking.source(each.named[0])), *(f"p{number}" for number in named), *["both"] * (each.passages > 1))
    )
    return f'<mark class="{classes}" data-passages="{" ".join(map(str, named))}">'


class Blocks:
    """Writes the stretches of a text, one after the other, and begins a new block when one is full.

    The middle of a stretch longer than `max_stretch_chars` is left out.
    """

    CLOSE = "</div>"

    def __init__(self, text: str, max_stretch_chars: int | None = None) -> None:
        self.text = text
        self.max_stretch_chars = max_stretch_chars
        self.used = 0

    def open(self, offset: int) -> str:
        self.used = 0
        return f'<div class="block" data-at="{offset}">'

    def write(self, start: int, end: int, opening: str = "", label: str = "", closing: str = "") -> Iterator[str]:
        """Write a stretch between its tags, which every block of it repeats; the label is written once."""
        longest = self.max_stretch_chars
        if longest is not None and end - start > longest:
            beginning_ends, end_begins = start + longest // 2, end - longest // 2
            yield from self.write(start, beginning_ends, opening, label, closing)
            yield from self.left_out(beginning_ends, end_begins)
            label, start = "", end_begins
        yield opening + label
        while (cut := self._cut(start, end)) < end:
            yield escaped(self.text[start:cut]) + closing + self.CLOSE + self.open(cut) + opening
            start = cut
        yield escaped(self.text[start:end]) + closing
        self.used += end - start

    def begin(self, between: str, offset: int) -> str:
        """Close the block, write something between two blocks, and open the next one."""
        return self.CLOSE + between + self.open(offset)

    def left_out(self, start: int, end: int) -> Iterator[str]:
        if end > start:
            yield self.begin(f'<p class="left-out">{end - start:,} characters left out</p>', end)

    def _cut(self, start: int, end: int) -> int:
        """Return the end of the block: `end`, or an offset before it."""
        full = start + max(BLOCK_CHARS - self.used, 0)
        limit = full + MAX_EXTRA_LINE_CHARS
        if full >= end:
            return end
        line_end = self.text.find("\n", full, min(limit, end))
        if line_end >= 0:
            return line_end + 1
        if limit >= end:
            return end
        return self.text.rfind(" ", full, limit) + 1 or limit


def numbers(begun: Sequence[int], marking: Marking) -> Iterator[str]:
    """Yield the numbers of the passages that begin at an offset, each a link to its partner."""
    for index, number in enumerate(begun):
        more = " more" * (index >= MAX_NUMBERS_SHOWN)
        shown = marking.source(number)
        if (address := marking.elsewhere(number)) is None:
            yield f'<a class="n{more}" id="{marking.own}{number}" href="#{marking.partner}{shown}">{shown}</a>'
        elif not more:
            yield f'<a class="n" href="{escape(address)}">{shown}</a>'
    if len(begun) > MAX_NUMBERS_SHOWN:
        yield f'<span class="n again">+{len(begun) - MAX_NUMBERS_SHOWN:,}</span>'


def again(number: int) -> str:
    """Return the number of a passage that began before, for readers who may have forgotten it."""
    return f'<span class="n again">{number}</span>'


def _unshared(blocks: Blocks, start: int, end: int) -> Iterator[str]:
    if end - start <= MAX_UNFOLDED_CHARS:
        yield from blocks.write(start, end)
        return
    # A fold begins and ends between words, if there is a space nearby.
    fold = blocks.text.find(" ", start + FOLD_EDGE_CHARS, start + 2 * FOLD_EDGE_CHARS)
    fold = start + FOLD_EDGE_CHARS if fold < 0 else fold
    unfold = blocks.text.find(" ", end - FOLD_EDGE_CHARS, end) + 1 or end - FOLD_EDGE_CHARS
    summary = f"<summary>{unfold - fold:,} characters not shared</summary>"
    yield from blocks.write(start, fold)
    yield blocks.begin(f'<details class="fold">{summary}', fold)
    yield from blocks.write(fold, unfold)
    yield blocks.begin("</details>", unfold)
    yield from blocks.write(unfold, end)


def escaped(text: str) -> str:
    """Escape text for HTML, with control characters made visible."""
    return escape(printable(text.replace("\r\n", "\n").replace("\r", "\n")))
