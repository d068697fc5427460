"""Finds the pages of an embedded store that have the words, and scores them.

Scores equal those of OpenSearch for the same words (see queries/dsl/words.py): Lucene's BM25, in which deleted pages do
not count.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from opensearch_winnow.cython_core.word_scores import Bm25, BooleanScorer
from opensearch_winnow.cython_core.word_segments import document_frequencies
from opensearch_winnow.queries.phrases import Phrase, phrases
from opensearch_winnow.queries.words import TEXT_WEIGHT, TITLE_WEIGHT, Words
from opensearch_winnow.stores.embedded.rows import reporting_damage
from opensearch_winnow.stores.embedded.text_index import TextIndex, TextSegment, gone_mask


class ScoredPages(NamedTuple):
    """Pages in the order of their numbers ('I'), and the score of each ('f')."""

    numbers: array[int]
    scores: array[float]


class _Weights(NamedTuple):
    title: Bm25
    text: Bm25


NO_WEIGHTS = _Weights(Bm25(0.0, 0, 0, []), Bm25(0.0, 0, 0, []))


@reporting_damage
def find(db: sqlite3.Connection, words: Words, gone: array[int]) -> ScoredPages:
    """Return all pages that have the words, without those in `gone` (sorted)."""
    scored = ScoredPages(array("I"), array("f"))
    alternatives, unwanted = phrases(words)
    if not alternatives:
        return scored
    wanted = [part for each in alternatives for part in _parts(each)]
    index = TextIndex(db)
    segments = [_SegmentWords(index, segment, gone_mask(segment, gone)) for segment in index.segments()]
    weights = _weights(index, segments, {phrase for each in wanted for phrase in each if phrase.words})
    while segments:
        segment = segments.pop(0)  # which frees its memory afterwards
        present = [[phrase for phrase in each if segment.has(phrase)] for each in wanted]
        if all(present):
            scorer = segment.scorer()
            for each in present:
                for phrase in each:
                    segment.put(phrase, weights.get(phrase, NO_WEIGHTS), scorer)
                scorer.require()
            for phrase in filter(segment.has, unwanted):
                segment.put(phrase, NO_WEIGHTS, scorer)
                scorer.exclude()
            numbers, scores = scorer.hits(segment.first)
            scored.numbers.extend(numbers)
            scored.scores.extend(scores)
    return scored


def _parts(alternatives: list[Phrase]) -> list[list[Phrase]]:
    """Split a phrase with words and a prefix in two, both required, if it has no alternatives."""
    if len(alternatives) == 1 and alternatives[0].words and alternatives[0].prefix:
        return [[Phrase(alternatives[0].words)], [Phrase((), alternatives[0].prefix)]]
    return [alternatives]


def _weights(index: TextIndex, segments: Sequence[_SegmentWords], searched: Iterable[Phrase]) -> dict[Phrase, _Weights]:
    title_lengths, text_lengths = index.lengths("title"), index.lengths("text")
    title_df: Counter[str] = Counter()
    text_df: Counter[str] = Counter()
    for word in {word for phrase in searched for word in phrase.words}:
        for segment in segments:
            in_title, in_text = segment.document_frequencies(word)
            title_df[word] += in_title
            text_df[word] += in_text
    return {
        phrase: _Weights(
            Bm25(TITLE_WEIGHT, *title_lengths, [title_df[word] for word in phrase.words]),
            Bm25(TEXT_WEIGHT, *text_lengths, [text_df[word] for word in phrase.words]),
        )
        for phrase in searched
    }


class _SegmentWords:
    """The postings of a segment for the words of a search. Each is read only once."""

    def __init__(self, index: TextIndex, segment: TextSegment, gone: bytes | None) -> None:
        self.first = segment.first
        self._index = index
        self._segment = segment
        self._gone = gone
        self._pages: dict[str, bytes | None] = {}
        self._prefixes: dict[str, list[bytes]] = {}

    def document_frequencies(self, word: str) -> tuple[int, int]:
        """Return the number of titles and the number of texts that have the word."""
        pages = self._pages_of(word)
        return (0, 0) if pages is None else document_frequencies(pages, self._gone)

    def has(self, phrase: Phrase) -> bool:
        """Return whether the segment has each word of the phrase, on any of its pages."""
        return all(self._pages_of(word) is not None for word in phrase.words) and (
            not phrase.prefix or bool(self._pages_with_prefix(phrase.prefix))
        )

    def scorer(self) -> BooleanScorer:
        return BooleanScorer(*self._index.short_lengths(self._segment), self._gone)

    def put(self, phrase: Phrase, weights: _Weights, scorer: BooleanScorer) -> None:
        """Add a phrase to a scorer as an alternative."""
        if phrase.words and phrase.prefix:
            both = self.scorer()
            self._put_words(phrase.words, weights, both)
            both.require()
            both.add_prefix(self._pages_with_prefix(phrase.prefix), TITLE_WEIGHT, TEXT_WEIGHT)
            both.require()
            scorer.add_scorer(both)
        elif phrase.prefix:
            scorer.add_prefix(self._pages_with_prefix(phrase.prefix), TITLE_WEIGHT, TEXT_WEIGHT)
        else:
            self._put_words(phrase.words, weights, scorer)

    def _put_words(self, words: Sequence[str], weights: _Weights, scorer: BooleanScorer) -> None:
        if len(words) == 1:
            pages = self._pages_of(words[0])
            if pages is not None:
                scorer.add_word(pages, *weights)
            return
        distinct = list(dict.fromkeys(words))
        postings = [self._index.pages_and_positions(self._segment, word) for word in distinct]
        scorer.add_phrase([each for each in postings if each], [distinct.index(word) for word in words], *weights)

    def _pages_of(self, word: str) -> bytes | None:
        if word not in self._pages:
            self._pages[word] = self._index.pages(self._segment, word)
        return self._pages[word]

    def _pages_with_prefix(self, start: str) -> list[bytes]:
        if start not in self._prefixes:
            self._prefixes[start] = self._index.pages_with_prefix(self._segment, start)
        return self._prefixes[start]
