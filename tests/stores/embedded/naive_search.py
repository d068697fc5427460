"""A naive full-text search: reads every page, and scores it by the BM25 formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.queries.phrases import Phrase, phrases
from opensearch_winnow.queries.words import Words

BOOSTS = (4.0, 1.0)  # of title and text
K1, B = 1.2, 0.75
EXACT = 24  # words up to which lengths are exact; above that, Lucene keeps the four highest bits

Page = tuple[str, str]  # title and text


class NaiveSearch:
    def __init__(self, pages: Mapping[int, Page]) -> None:
        self._fields = {number: [word_tokens(field)[0] for field in page] for number, page in pages.items()}

    def find(self, words: Words) -> dict[int, float]:
        """Return the score of each page that has the words."""
        wanted, unwanted = phrases(words)
        found = {}
        for number, page in self._fields.items():
            scores = [[self._score(phrase, page) for phrase in alternatives] for alternatives in wanted]
            refused = any(self._score(phrase, page) is not None for phrase in unwanted)
            if scores and not refused and all(any(each is not None for each in some) for some in scores):
                found[number] = sum(each or 0.0 for some in scores for each in some)
        return found

    def _score(self, phrase: Phrase, page: Sequence[Sequence[str]]) -> float | None:
        parts: list[float | None] = []
        if phrase.words:
            parts.append(self._of_words(phrase.words, page))
        if phrase.prefix:
            has = [any(word.startswith(phrase.prefix) for word in field) for field in page]
            parts.append(sum(b for b, there in zip(BOOSTS, has, strict=True) if there) if any(has) else None)
        return None if None in parts else sum(part for part in parts if part is not None)

    def _of_words(self, words: Sequence[str], page: Sequence[Sequence[str]]) -> float | None:
        scores = []
        for which, (field, boost) in enumerate(zip(page, BOOSTS, strict=True)):
            if frequency := _times(words, field):
                every = [each[which] for each in self._fields.values() if each[which]]
                idf = sum(_idf(sum(word in each for each in every), len(every)) for word in words)
                average = sum(map(len, every)) / len(every)
                norm = K1 * (1 - B + B * _rounded(len(field)) / average)
                scores.append(boost * idf * frequency / (frequency + norm))
        return sum(scores) if scores else None


def _idf(there: int, pages: int) -> float:
    return log(1 + (pages - there + 0.5) / (there + 0.5))


def _times(words: Sequence[str], field: Sequence[str]) -> int:
    size = len(words)
    return sum(list(field[start : start + size]) == list(words) for start in range(len(field) - size + 1))


def _rounded(length: int) -> int:
    over = max(length - EXACT, 0)
    shift = max(over.bit_length() - 4, 0)
    return length if over == 0 else EXACT + (over >> shift << shift)
