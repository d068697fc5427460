"""Chooses the phrases to search for where a question is too short for its fingerprints to find every copy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.words import Term, Words

MAX_PHRASES = 300  # of one search; a store takes up to 330

PHRASE_WORDS = 5  # fewer words are on many pages that share nothing else

WordRange = tuple[int, int]  # the first word and the one after the last


def short_phrases(question: CanonicalText, scheme: Scheme) -> Words | None:
    """Return a search for every page that shares k canonical characters, or a shingle, with a short question.

    Such a page has one of these phrases. The first and the last word of the question may be cut, so no phrase contains
    them. Returns None if there is no such search: the question has fewer than k characters, the scheme gives different
    words the same canonical text, or k characters need not contain a whole word.
    """
    if scheme.form != "text" or scheme.fold_confusables or len(question.chars) < scheme.k:
        return None
    _, starts, ends = word_tokens(question.text)
    if not starts:
        return None
    offsets = question.offsets
    firsts, lasts = ([bisect_left(offsets, at) for at in some] for some in (starts, ends))
    inner = len(starts) - 1
    runs = (
        [
            (bisect_left(firsts, start, 1, inner), bisect_left(lasts, start + scheme.k + 1, 1, inner))
            for start in range(len(question.chars) - scheme.k + 1)
        ]
        if inner > 1
        else [(1, 1)]
    )
    runs += ((max(first, 1), min(first + scheme.shingle, inner)) for first in range(inner + 2 - scheme.shingle))
    ranges = _in_every(runs)
    if len(ranges) > MAX_PHRASES or any(first >= end for first, end in ranges):
        return None
    return Words((tuple(Term(question.text[starts[first] : ends[end - 1]]) for first, end in ranges),))


def _in_every(ranges: Iterable[WordRange]) -> list[WordRange]:
    """Return a few ranges, so that each of `ranges` contains one of them. A search is faster with fewer phrases.

    Ranges that overlap by PHRASE_WORDS words or more are replaced by their overlap.
    """
    shared: list[WordRange] = []
    for first, end in sorted(set(ranges)):
        if shared and min(end, shared[-1][1]) - first >= PHRASE_WORDS:
            shared[-1] = first, min(end, shared[-1][1])
        elif not (shared and first <= shared[-1][0] and shared[-1][1] <= end):
            shared.append((first, end))
    return shared


def has_run_of_words(question: CanonicalText, page: CanonicalText) -> bool:
    """Return whether a page has all words of the question in a row.

    "concatenate" has the characters of "cat", but not the word.
    """
    size, count = len(question.chars), len(question.words)
    at = page.chars.find(question.chars) if size else -1
    while at >= 0:
        index = bisect_left(page.words, at)
        if _words_at(page.words[index : index + count], at) == question.words.tolist() and (
            index + count == len(page.words) or page.words[index + count] == at + size
        ):
            return True
        at = page.chars.find(question.chars, at + 1)
    return False


def _words_at(words: Sequence[int], at: int) -> list[int]:
    return [start - at for start in words]
