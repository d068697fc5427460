"""A text as HTML with its passages marked, which may overlap."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice, pairwise

from opensearch_winnow.answers.printable import printable

COLOURS = 8
FOLD = 2_000  # a longer stretch that is not shared is folded,
EDGE = 300  # but for so many characters beside the passages
REMINDER = 200  # characters after which a reader may have forgotten the number of a passage
# Where a paragraph of one text is in the other a hundred times, a hundred passages begin in one place.
NUMBERS = 3  # are shown there; all can be jumped to
NAMED = 16  # are named by the mark: the last to begin
# A browser lays out only the blocks in view, so that megabytes take no time: a block ends with the first line that ends
# after BLOCK characters, or is broken off where no line ends for LINE more.
BLOCK = 3_000
LINE = 9_000
GREY, LABEL = '<span class="boilerplate">', '<span class="n again">boilerplate</span>'


def marked_text(
    text: str, spans: Sequence[tuple[int, int]], side: str, boilerplate: Sequence[tuple[int, int]] = ()
) -> Iterator[str]:
    """The text in pieces; passage n is spans[n - 1]. On side a its id is a{n} and it links to b{n}, and so back.

    Boilerplate has no number, and is seen where no passage is.
    """
    partner = "b" if side == "a" else "a"
    starts, ends = defaultdict(list), defaultdict(list)
    for number, (start, end) in enumerate(spans, 1):
        starts[start].append(number)
        ends[end].append(number)
    changes = Counter(start for start, _ in boilerplate)  # how many more runs of boilerplate there are from here on
    changes.subtract(end for _, end in boilerplate)
    blocks = Blocks(text)
    active: dict[int, None] = {}  # in the order they began
    grey = 0  # runs of boilerplate here
    labelled = False
    yield blocks.OPEN
    for place, after in pairwise(sorted({0, len(text)} | starts.keys() | ends.keys() | changes.keys())):
        for number in ends[place]:
            del active[number]
        active.update(dict.fromkeys(starts[place]))
        grey += changes[place]
        if not active:
            if grey:
                yield from blocks.write(place, after, GREY, "" if labelled else LABEL, "</span>")
            else:
                yield from _unshared(blocks, place, after)
            labelled = grey > 0
            continue
        labelled = False
        top = next(reversed(active))
        named = sorted(islice(reversed(active), NAMED))
        names = " ".join(map(str, named))
        classes = " ".join(
            (f"c{(top - 1) % COLOURS + 1}", *(f"p{number}" for number in named), "both" * (len(active) > 1))
        )
        mark = f'<mark class="{classes.rstrip()}" data-passages="{names}">'
        numbers = "".join(_numbers(starts[place], side, partner))
        if not numbers and place - spans[top - 1][0] > REMINDER:
            numbers = f'<span class="n again">{top}</span>'  # what lay over it has ended, and this goes on
        yield from blocks.write(place, after, mark, numbers, "</mark>")
    yield blocks.CLOSE


class Blocks:
    """Writes stretches of a text, one after the other, and begins a new block where one is full."""

    OPEN, CLOSE = '<div class="block">', "</div>"

    def __init__(self, text: str) -> None:
        self.text = text
        self.used = 0

    def write(self, start: int, end: int, opening: str = "", label: str = "", closing: str = "") -> Iterator[str]:
        """A stretch between its tags, which are repeated in every block that it is in; the label is not."""
        yield opening + label
        while (cut := self._cut(start, end)) < end:
            yield _escaped(self.text[start:cut]) + closing + self.CLOSE + self.OPEN + opening
            self.used = 0
            start = cut
        yield _escaped(self.text[start:end]) + closing
        self.used += end - start

    def begin(self, between: str) -> str:
        """A new block after something that stands between two."""
        self.used = 0
        return self.CLOSE + between + self.OPEN

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


def _numbers(numbers: Sequence[int], side: str, partner: str) -> Iterator[str]:
    for index, number in enumerate(numbers):
        more = " more" * (index >= NUMBERS)
        yield f'<a class="n{more}" id="{side}{number}" href="#{partner}{number}">{number}</a>'
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
    yield from blocks.write(start, fold)
    yield blocks.begin(f'<details class="fold"><summary>{unfold - fold:,} characters that are not shared</summary>')
    yield from blocks.write(fold, unfold)
    yield blocks.begin("</details>")
    yield from blocks.write(unfold, end)


def _escaped(text: str) -> str:
    return escape(printable(text.replace("\r\n", "\n").replace("\r", "\n")))
