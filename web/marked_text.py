"""A text as HTML with its passages marked, which may overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from opensearch_winnow.answers.compared import Span
from opensearch_winnow.answers.display_text import printable
from opensearch_winnow.web.stretches import Stretch, stretches

COLOURS = 8
FOLD = 2_000  # a longer stretch that is not shared is folded,
EDGE = 300  # but for so many characters beside the passages
REMINDER = 200  # characters after which a reader may have forgotten the number of a passage
# Where a paragraph of one text is in the other a hundred times, a hundred passages begin in one place.
NUMBERS = 3  # are shown there; all can be jumped to
# Of a file a browser lays out only the blocks in view, so that megabytes take no time: a block ends with the first line
# that ends after BLOCK characters, or is broken off where no line ends for LINE more.
BLOCK = 3_000
LINE = 9_000
GREY, LABEL = '<span class="boilerplate">', '<span class="n again">boilerplate</span>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """How the passages of a text are marked. Passage n has the id {own}{n} and links to {partner}{n}."""

    own: str
    partner: str
    elsewhere: Callable[[int], str | None] = lambda _number: None  # the address of a passage that is on another page
    shown: Sequence[Span] | None = None  # what of the text is shown, apart and in order; None: all
    longest: int | None = None  # a stretch that is longer is shown without its middle


def colour(number: int) -> str:
    """The class of a passage."""
    return f"c{(number - 1) % COLOURS + 1}"


def marked_text(
    text: str, spans: Mapping[int, Span], marking: Marking, boilerplate: Sequence[Span] = ()
) -> Iterator[str]:
    """The text in pieces; the spans are those of the passages by their numbers.

    Boilerplate has no number, and is seen where no passage is.
    """
    shown = [(0, len(text))] if marking.shown is None else marking.shown
    begins, stops = {start for start, _ in shown}, {end for _, end in shown}
    blocks = Blocks(text, marking.longest)
    seen = labelled = False
    left_out_from = 0
    yield blocks.open(0)
    for each in stretches(len(text), spans, boilerplate, begins | stops):
        if each.start in stops:
            seen, left_out_from = False, each.start
        if each.start in begins:
            seen = True
            yield from blocks.left_out(left_out_from, each.start)
        if not seen:
            continue
        if each.passages:
            top = each.named[0]
            numbers = "".join(_numbers(each.begun, marking))
            if not numbers and (each.start - spans[top][0] > REMINDER or each.start in begins):
                numbers = f'<span class="n again">{top}</span>'  # what lay over it has ended, and this goes on
            yield from blocks.write(each.start, each.end, _mark(each), numbers, "</mark>")
        elif each.grey:
            yield from blocks.write(each.start, each.end, GREY, "" if labelled else LABEL, "</span>")
        else:
            yield from _unshared(blocks, each.start, each.end)
        labelled = each.grey and not each.passages
    if not seen:
        yield from blocks.left_out(left_out_from, len(text))
    yield blocks.CLOSE


def _mark(each: Stretch) -> str:
    named = sorted(each.named)
    classes = " ".join((colour(each.named[0]), *(f"p{number}" for number in named), *["both"] * (each.passages > 1)))
    return f'<mark class="{classes}" data-passages="{" ".join(map(str, named))}">'


class Blocks:
    """Writes stretches of a text, one after the other, and begins a new block where one is full. Of a stretch that is
    longer than `longest` the middle is left out."""

    CLOSE = "</div>"

    def __init__(self, text: str, longest: int | None = None) -> None:
        self.text = text
        self.longest = longest
        self.used = 0

    def open(self, place: int) -> str:
        self.used = 0
        return f'<div class="block" data-at="{place}">'

    def write(self, start: int, end: int, opening: str = "", label: str = "", closing: str = "") -> Iterator[str]:
        """A stretch between its tags, which are repeated in every block that it is in; the label is not."""
        if self.longest is not None and end - start > self.longest:
            beginning_ends, end_begins = start + self.longest // 2, end - self.longest // 2
            yield from self.write(start, beginning_ends, opening, label, closing)
            yield from self.left_out(beginning_ends, end_begins)
            label, start = "", end_begins
        yield opening + label
        while (cut := self._cut(start, end)) < end:
            yield escaped(self.text[start:cut]) + closing + self.CLOSE + self.open(cut) + opening
            start = cut
        yield escaped(self.text[start:end]) + closing
        self.used += end - start

    def begin(self, between: str, place: int) -> str:
        """A new block after something that stands between two."""
        return self.CLOSE + between + self.open(place)

    def left_out(self, start: int, end: int) -> Iterator[str]:
        if end > start:
            yield self.begin(f'<p class="left-out">{end - start:,} characters are left out here</p>', end)

    def _cut(self, start: int, end: int) -> int:
        full = start + max(BLOCK - self.used, 0)
        at_most = full + LINE
        if full >= end:
            return end
        line_end = self.text.find("\n", full, min(at_most, end))
        if line_end >= 0:
            return line_end + 1
        if at_most >= end:
            return end
        return self.text.rfind(" ", full, at_most) + 1 or at_most


def _numbers(numbers: Sequence[int], marking: Marking) -> Iterator[str]:
    for index, number in enumerate(numbers):
        more = " more" * (index >= NUMBERS)
        if (address := marking.elsewhere(number)) is None:
            yield f'<a class="n{more}" id="{marking.own}{number}" href="#{marking.partner}{number}">{number}</a>'
        elif not more:
            yield f'<a class="n" href="{escape(address)}">{number}</a>'
    if len(numbers) > NUMBERS:
        yield f'<span class="n again">+{len(numbers) - NUMBERS:,}</span>'


def _unshared(blocks: Blocks, start: int, end: int) -> Iterator[str]:
    if end - start <= FOLD:
        yield from blocks.write(start, end)
        return
    # A fold begins and ends with a word, where there is one near.
    fold = blocks.text.find(" ", start + EDGE, start + 2 * EDGE)
    fold = start + EDGE if fold < 0 else fold
    unfold = blocks.text.find(" ", end - EDGE, end) + 1 or end - EDGE
    summary = f"<summary>{unfold - fold:,} characters that are not shared</summary>"
    yield from blocks.write(start, fold)
    yield blocks.begin(f'<details class="fold">{summary}', fold)
    yield from blocks.write(fold, unfold)
    yield blocks.begin("</details>", unfold)
    yield from blocks.write(unfold, end)


def escaped(text: str) -> str:
    """Text of others, as a piece of HTML."""
    return escape(printable(text.replace("\r\n", "\n").replace("\r", "\n")))
