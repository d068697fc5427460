"""What A and B do not share, beside each other in reading order: text that has moved is not shown as gone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import NamedTuple

from markupsafe import Markup

from opensearch_winnow.answers.compared import Compared, ComparedText, Span, has_words
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.queries.compare import Passage
from opensearch_winnow.queries.numbered_passages import NumberedPassage
from opensearch_winnow.web.compared_panes import OWN, PARTNER
from opensearch_winnow.web.marked_text import colour, escaped
from opensearch_winnow.web.passage_windows import LONGEST
from opensearch_winnow.web.stretches import Stretch, stretches
from opensearch_winnow.web.word_changes import WordChanges

ROWS = 300  # on a page
FOLD = 3_000  # a longer stretch is folded, but for its beginning
PIECES = 100  # of one cell, at most
WORD = 40  # characters, at most
EXCERPT = 90  # characters of the beginning and of the end of a passage that both have


class Row(NamedTuple):
    """A passage that both have in this order; or what lies between two of these, in A and in B."""

    passage: NumberedPassage | None = None
    a: Span = (0, 0)
    b: Span = (0, 0)


class ShownRow(NamedTuple):
    passage: NumberedPassage | None = None
    excerpt: str = ""
    a: Markup = Markup()
    b: Markup = Markup()
    changed: bool = False  # some of the words are on the other side, too


def in_whole_words(compared: Compared) -> Compared:
    """With passages that begin and end with a word: half of one says nothing, neither as shared nor as not."""
    a, b = compared.a.text, compared.b.text
    passages = []
    for each in compared.passages:
        start, end, other_start, other_end = each.passage
        trimmed = Passage(*_whole_words(a, start, end), *_whole_words(b, other_start, other_end))
        passages.append(replace(each, passage=trimmed))
    return replace(
        compared,
        passages=passages,
        a=replace(compared.a, passages=[each.passage[:2] for each in passages]),
        b=replace(compared.b, passages=[each.passage[2:] for each in passages]),
    )


def _whole_words(text: str, start: int, end: int) -> Span:
    first, last = start, end
    while first and first < min(end, start + WORD) and _go_on(text, first):
        first += 1
    while last < len(text) and last > max(first, end - WORD) and _go_on(text, last):
        last -= 1
    return (first, last) if first < last else (start, end)


def _go_on(text: str, place: int) -> bool:
    """Whether a word of a script with small and capital letters, which has spaces between words, goes on there."""
    return all(each.lower() != each.upper() or each.isdigit() for each in text[place - 1 : place + 1])


def rows(compared: Compared) -> list[Row]:
    """Between two passages are those that have moved, and the text that is nowhere else."""
    found: list[Row] = []
    at, other_at = 0, 0

    def between(start: int, other_start: int) -> Iterator[Row]:
        ours, theirs = (at, max(start, at)), (other_at, max(other_start, other_at))
        if has_words(compared.a.text[slice(*ours)]) or has_words(compared.b.text[slice(*theirs)]):
            yield Row(a=ours, b=theirs)

    for each in compared.passages:
        start, end, other_start, other_end = each.passage
        if each.moved or end <= at or other_end <= other_at:
            continue
        found += [*between(start, other_start), Row(each)]
        at, other_at = end, other_end
    return [*found, *between(len(compared.a.text), len(compared.b.text))]


def shown_rows(compared: Compared, some: Sequence[Row], elsewhere: Callable[[int], str]) -> list[ShownRow]:
    """`elsewhere` is the address of a passage in the other view."""
    passages = {each.number: each for each in compared.passages}
    a = _Cells(compared.a, dict(zip(passages, compared.a.passages, strict=True)), [each.a for each in some])
    b = _Cells(compared.b, dict(zip(passages, compared.b.passages, strict=True)), [each.b for each in some])

    def chip(number: int, own: str, partner: str, partners: set[int]) -> str:
        each = passages[number]
        link = f"#{partner}{number}" if number in partners else elsewhere(number)
        return Markup('<a class="chip {} p{}" id="{}{}" href="{}"><b>{}</b> {}{}</a>').format(
            colour(number), number, own, number, link, number, each.size, ", moved" * each.moved
        )

    changes = WordChanges()

    def shown(row: Row) -> ShownRow:
        if row.passage:
            return ShownRow(row.passage, _excerpt(compared.a.text, row.passage))
        ours, theirs = a.unshared(row.a), b.unshared(row.b)
        only_a, only_b = changes.of(compared.a.text, ours, compared.b.text, theirs)
        return ShownRow(
            a=a.cell(row.a, only_a, lambda number: chip(number, OWN, PARTNER, b.named)),
            b=b.cell(row.b, only_b, lambda number: chip(number, PARTNER, OWN, a.named)),
            changed=(only_a, only_b) != (ours, theirs),
        )

    return list(map(shown, some))


class _Cells:
    """What the rows show of one side."""

    def __init__(self, side: ComparedText, spans: dict[int, Span], shown: Sequence[Span]) -> None:
        self._text = side.text
        edges = {edge for span in shown for edge in span}
        self._stretches = list(stretches(len(side.text), spans, side.boilerplate, edges))
        self._starts = [each.start for each in self._stretches]
        self._chips: dict[int, list[int]] = {}  # the passages that are named where a stretch starts: each once
        self.named: set[int] = set()
        for span in shown:
            for each in self._pieces(span)[:PIECES]:
                self._chips[each.start] = sorted(set(each.named) - self.named)
                self.named.update(each.named)

    def unshared(self, span: Span) -> list[Span]:
        """Where there are words that are in no passage and no boilerplate."""
        return [self._trimmed(each) for each in self._pieces(span)[:PIECES] if self._is_unshared(each)]

    def cell(self, span: Span, only: Sequence[Span], chip: Callable[[int], str]) -> Markup:
        """`only` is what is not on the other side; `chip` writes the passage of a number."""
        pieces = self._pieces(span)
        shown = "".join(written for each in pieces[:PIECES] for written in self._written(each, only, chip))
        return Markup(shown + _left_out(sum(each.end - each.start for each in pieces[PIECES:])))

    def _pieces(self, span: Span) -> list[Stretch]:
        low, high = (bisect_left(self._starts, edge) for edge in span)
        return self._stretches[low:high]

    def _is_unshared(self, each: Stretch) -> bool:
        return not (each.passages or each.grey) and has_words(self._text[each.start : each.end])

    def _trimmed(self, each: Stretch) -> Span:
        text = self._text[each.start : each.end]
        return each.end - len(text.lstrip()), each.start + len(text.rstrip())

    def _written(self, each: Stretch, only: Sequence[Span], chip: Callable[[int], str]) -> Iterator[str]:
        if each.passages:
            yield from map(chip, self._chips[each.start])
        elif each.grey:
            yield f'<span class="chip boilerplate">boilerplate: {each.end - each.start:,} characters</span>'
        elif self._is_unshared(each):
            start, end = self._trimmed(each)
            fold = end
            if end - start > FOLD:
                fold = self._text.rfind(" ", start, start + FOLD) + 1 or start + FOLD
            yield from self._marked(start, fold, only)
            if fold < end:
                last = min(end, fold + LONGEST)
                yield f'<details class="fold"><summary>{end - fold:,} characters more</summary>'
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
    return f'<p class="left-out">{characters:,} characters are left out here</p>' if characters else ""


def _excerpt(text: str, each: NumberedPassage) -> str:
    """Its first and its last words."""
    start, end = each.passage[:2]
    if end - start <= 2 * EXCERPT:
        return one_line(text[start:end])
    first = one_line(text[start : start + EXCERPT])
    last = one_line(text[end - EXCERPT : end])
    return f"{first.rpartition(' ')[0] or first} … {last.partition(' ')[2] or last}"
