"""An index, in memory, of every run of a few words of some texts, which finds their passages in other texts.

A store guarantees passages of 149 characters by default. This index finds passages of any number of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.word_runs import WordRuns
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.tables import refuse_table
from opensearch_winnow.queries.spans import Span

DEFAULT_WORDS = 13  # as in the decontamination of GPT-3, and in most since
DEFAULT_SHORTEST = 8  # words that two people hardly write in the same order by chance
MAX_CANONICAL = 256  # canonical texts that are kept, because the next row often has the same passage


class IndexedPassage(NamedTuple):
    """A run of words that a text shares with an indexed text. Offsets are code points."""

    start: int
    end: int
    text: int  # the number of the indexed text, from 0
    other_start: int  # in the indexed text
    other_end: int
    words: int
    first_word: int  # the index of its first word among the words of the text
    other_first_word: int


class PassageIndex:
    """Finds the passages of at least `words` words, 13 by default, that a text shares with `texts`.

    Words are compared without case, punctuation and line breaks. A text of fewer than `words` words is found as a whole
    if it has at least `shortest`, 8 by default.

    Usage:

        index = PassageIndex(questions, words=13)
        for passage in index.find(row):
            print(row[passage.start : passage.end], questions[passage.text])
    """

    def __init__(
        self, texts: Iterable[str], words: int = DEFAULT_WORDS, shortest: int | None = DEFAULT_SHORTEST
    ) -> None:
        if words < 1 or (shortest is not None and shortest < 1):
            raise QuestionError(f"a passage has at least 1 word, got {words if words < 1 else shortest}")
        refuse_table(texts, "a list of texts")
        self.texts: Sequence[str] = texts if isinstance(texts, Sequence) else list(texts)
        self.words = words
        self.shortest = words if shortest is None else min(shortest, words)
        self.lengths: list[int] = []  # of the texts, in words
        self._runs = WordRuns(map(self._counted, self.texts), words, self.shortest)
        self._canonical = lru_cache(MAX_CANONICAL)(lambda number: canonical_text(self.texts[number]))

    def _counted(self, text: str) -> CanonicalText:
        canonical = canonical_text(text)
        self.lengths.append(len(canonical.words))
        return canonical

    def find(self, text: str) -> list[IndexedPassage]:
        """Return the passages of `text`, each as long as it can be, in the order of the text."""
        return self.find_canonical(canonical_text(text))

    def find_canonical(self, canonical: CanonicalText) -> list[IndexedPassage]:
        """Return the passages of a text whose canonical text is known."""
        passages = []
        for start, end, number, other_start in self._runs.find(canonical):
            here = _span(canonical, start, end)
            there = _span(self._canonical(number), other_start, other_start + end - start)
            passages.append(IndexedPassage(*here, number, *there, end - start, start, other_start))
        return passages


def _span(canonical: CanonicalText, start: int, end: int) -> Span:
    """Return the span of the words from `start` to `end` in the text."""
    words = canonical.words
    return canonical.span(words[start], words[end] if end < len(words) else len(canonical.chars))
