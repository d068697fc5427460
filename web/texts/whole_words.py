"""Trims passages to whole words before they are shown: half a word tells a reader nothing, shared or not."""

from __future__ import annotations

from dataclasses import replace

from opensearch_winnow.answers.asking.compared import Compared
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.spans import Span

MAX_WORD_CHARS = 40  # a longer word is cut


def trim_to_words(compared: Compared) -> Compared:
    """Trim all passages to whole words."""
    a, b = compared.a.text, compared.b.text
    passages = []
    for each in compared.passages:
        start, end, other_start, other_end = each.passage
        trimmed = Passage(*whole_words(a, start, end), *whole_words(b, other_start, other_end))
        passages.append(replace(each, passage=trimmed))
    return replace(
        compared,
        passages=passages,
        a=replace(compared.a, passages=[each.passage[:2] for each in passages]),
        b=replace(compared.b, passages=[each.passage[2:] for each in passages]),
    )


def whole_words(text: str, start: int, end: int) -> Span:
    """Return a span without the halves of words at its ends."""
    first, last = start, end
    while first and first < min(end, start + MAX_WORD_CHARS) and _is_inside_word(text, first):
        first += 1
    while last < len(text) and last > max(first, end - MAX_WORD_CHARS) and _is_inside_word(text, last):
        last -= 1
    return (first, last) if first < last else (start, end)


def _is_inside_word(text: str, offset: int) -> bool:
    """Return whether `offset` is inside a word of a script with upper and lower case: such scripts separate words."""
    return all(each.lower() != each.upper() or each.isdigit() for each in text[offset - 1 : offset + 1])


def without_edges(text: str, span: Span) -> Span:
    """Return the span without the spaces and punctuation at its ends, where its number would stand apart."""
    start, end = span
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return (start, end) if start < end else span
