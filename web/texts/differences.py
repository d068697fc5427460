"""The differences of two texts side by side, in reading order. Moved text is not shown as deleted and added."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from operator import itemgetter
from typing import NamedTuple

from markupsafe import Markup

from opensearch_winnow.answers.asking.compared import Compared, ComparedText, has_words
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage
from opensearch_winnow.queries.spans import Span
from opensearch_winnow.web.texts.compared_panes import A_PREFIX, B_PREFIX
from opensearch_winnow.web.texts.marked_text import Stretch, colour, escaped, stretches
from opensearch_winnow.web.texts.shown_passages import MAX_STRETCH_CHARS

ROWS_PER_PAGE = 300
MAX_UNFOLDED_CHARS = 3_000  # a longer stretch is folded after its beginning
MAX_STRETCHES_PER_CELL = 100
EXCERPT_CHARS = 90  # of the beginning and of the end of a shared passage
WORD = re.compile(r"\w+")
END_OF_SENTENCE = re.compile(r"[.,;:!?]*\s+")  # of the shared passage before
MAX_WORD_PAIRS = 2_000_000  # compared for one page: about a second
MAX_WORD_PAIRS_PER_ROW = 250_000


class AlignedRow(NamedTuple):
    """A shared passage that has not moved; or, if `passage` is None, the text between two of these in A and in B."""

    passage: NumberedPassage | None = None
    a: Span = (0, 0)
    b: Span = (0, 0)


class RenderedRow(NamedTuple):
    """A row as HTML."""

    passage: NumberedPassage | None = None
    excerpt: str = ""
    a: Markup = Markup()
    b: Markup = Markup()
    changed: bool = False  # some of the words are on both sides


def difference_rows(compared: Compared) -> list[AlignedRow]:
    """Return the passages that have not moved and, between them, moved passages and text that is not shared."""
    rows: list[AlignedRow] = []
    at, other_at = 0, 0

    def between(start: int, other_start: int) -> Iterator[AlignedRow]:
        ours, theirs = (at, max(start, at)), (other_at, max(other_start, other_at))
        if has_words(compared.a.text[slice(*ours)]) or has_words(compared.b.text[slice(*theirs)]):
            yield AlignedRow(a=ours, b=theirs)

    for each in compared.passages:
        start, end, other_start, other_end = each.passage
        if each.moved or end <= at or other_end <= other_at:
            continue
        rows += [*between(start, other_start), AlignedRow(each)]
        at, other_at = end, other_end
    return [*rows, *between(len(compared.a.text), len(compared.b.text))]


def render_rows(compared: Compared, rows: Sequence[AlignedRow], elsewhere: Callable[[int], str]) -> list[RenderedRow]:
    """Render the rows of one page; `elsewhere` returns the address of a passage in the passages view."""
    passages = {each.number: each for each in compared.passages}
    a = _Cells(compared.a, dict(zip(passages, compared.a.passages, strict=True)), [each.a for each in rows])
    b = _Cells(compared.b, dict(zip(passages, compared.b.passages, strict=True)), [each.b for each in rows])

    def chip(number: int, own: str, partner: str, partners: set[int]) -> str:
        each = passages[number]
        link = f"#{partner}{number}" if number in partners else elsewhere(number)
        return Markup('<a class="chip {} p{}" id="{}{}" href="{}"><b>{}</b> {}{}</a>').format(
            colour(number), number, own, number, link, number, each.size, ", moved" * each.moved
        )

    changes = WordChanges()

    def render(row: AlignedRow) -> RenderedRow:
        if row.passage:
            return RenderedRow(row.passage, _excerpt(compared.a.text, row.passage))
        ours, theirs = a.unshared(row.a), b.unshared(row.b)
        only_a, only_b = changes.find(compared.a.text, ours, compared.b.text, theirs)
        return RenderedRow(
            a=a.cell(row.a, only_a, lambda number: chip(number, A_PREFIX, B_PREFIX, b.named)),
            b=b.cell(row.b, only_b, lambda number: chip(number, B_PREFIX, A_PREFIX, a.named)),
            changed=(only_a, only_b) != (ours, theirs),
        )

    return list(map(render, rows))


class _Cells:
    """Renders the cells of one side, A or B; `cells` are their spans."""

    def __init__(self, side: ComparedText, spans: dict[int, Span], cells: Sequence[Span]) -> None:
        self._text = side.text
        edges = {edge for span in cells for edge in span}
        self._stretches = list(stretches(len(side.text), spans, side.boilerplate, edges))
        self._starts = [each.start for each in self._stretches]
        self._chips: dict[int, list[int]] = {}  # by the start of a stretch, the passages named there: each once
        self.named: set[int] = set()
        for span in cells:
            for each in self._within(span)[:MAX_STRETCHES_PER_CELL]:
                self._chips[each.start] = sorted(set(each.named) - self.named)
                self.named.update(each.named)

    def unshared(self, span: Span) -> list[Span]:
        """Return the spans of words outside passages and boilerplate."""
        within = self._within(span)[:MAX_STRETCHES_PER_CELL]
        return [self._trimmed(each) for each in within if self._is_unshared(each)]

    def cell(self, span: Span, only: Sequence[Span], chip: Callable[[int], str]) -> Markup:
        """Render a cell. `only` are the words that are not on the other side; `chip` renders a passage's number."""
        within = self._within(span)
        rendered, rest = within[:MAX_STRETCHES_PER_CELL], within[MAX_STRETCHES_PER_CELL:]
        html = "".join(piece for each in rendered for piece in self._render(each, only, chip))
        return Markup(html + _left_out(sum(each.end - each.start for each in rest)))

    def _within(self, span: Span) -> list[Stretch]:
        low, high = (bisect_left(self._starts, edge) for edge in span)
        return self._stretches[low:high]

    def _is_unshared(self, each: Stretch) -> bool:
        return not (each.passages or each.grey) and has_words(self._text[each.start : each.end])

    def _trimmed(self, each: Stretch) -> Span:
        text = self._text[each.start : each.end]
        before = END_OF_SENTENCE.match(text)
        return each.start + (before.end() if before else 0), each.start + len(text.rstrip())

    def _render(self, each: Stretch, only: Sequence[Span], chip: Callable[[int], str]) -> Iterator[str]:
        if each.passages:
            yield from map(chip, self._chips[each.start])
        elif each.grey:
            yield f'<span class="chip boilerplate">boilerplate: {each.end - each.start:,} characters</span>'
        elif self._is_unshared(each):
            start, end = self._trimmed(each)
            fold = end
            if end - start > MAX_UNFOLDED_CHARS:
                limit = start + MAX_UNFOLDED_CHARS
                fold = self._text.rfind(" ", start, limit) + 1 or limit
            yield from self._marked(start, fold, only)
            if fold < end:
                last = min(end, fold + MAX_STRETCH_CHARS)
                yield f'<details class="fold"><summary>{end - fold:,} more characters</summary>'
                yield from self._marked(fold, last, only)
                yield f"{_left_out(end - last)}</details>"
            yield " "

    def _marked(self, start: int, end: int, only: Sequence[Span]) -> Iterator[str]:
        for first, last in only[bisect_right(only, start, key=itemgetter(1)) :]:
            if first >= end:
                break
            first, last = max(first, start), min(last, end)
            yield escaped(self._text[start:first])
            yield f'<span class="only">{escaped(self._text[first:last])}</span>'
            start = last
        yield escaped(self._text[start:end])


def _left_out(characters: int) -> str:
    return f'<p class="left-out">{characters:,} characters left out</p>' if characters else ""


def _excerpt(text: str, each: NumberedPassage) -> str:
    """Return the first and the last words of a passage."""
    start, end = each.passage[:2]
    if end - start <= 2 * EXCERPT_CHARS:
        return one_line(text[start:end])
    first = one_line(text[start : start + EXCERPT_CHARS])
    last = one_line(text[end - EXCERPT_CHARS : end])
    return f"{first.rpartition(' ')[0] or first} … {last.partition(' ')[2] or last}"


class WordChanges:
    """Finds the words that two parts of a text do not share, until the work allowed for one page is used up."""

    def __init__(self) -> None:
        self._pairs_left = MAX_WORD_PAIRS

    def find(self, a: str, a_spans: Sequence[Span], b: str, b_spans: Sequence[Span]) -> tuple[list[Span], list[Span]]:
        """Return the spans of words that are only in these spans of A, and of words only in these spans of B.

        If that takes too much work, all of the words are returned.
        """
        a_words, b_words = _words(a, a_spans), _words(b, b_spans)
        pairs = len(a_words) * len(b_words)
        if not 0 < pairs <= min(MAX_WORD_PAIRS_PER_ROW, self._pairs_left):
            return list(a_spans), list(b_spans)
        self._pairs_left -= pairs
        matcher = SequenceMatcher(
            None,
            [a[slice(*word)].casefold() for word in a_words],
            [b[slice(*word)].casefold() for word in b_words],
            autojunk=False,
        )
        changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
        return (
            [(a_words[first][0], a_words[last - 1][1]) for _, first, last, _, _ in changes if first < last],
            [(b_words[first][0], b_words[last - 1][1]) for *_, first, last in changes if first < last],
        )


def _words(text: str, spans: Sequence[Span]) -> list[Span]:
    return [word.span() for start, end in spans for word in WORD.finditer(text, start, end)]
