"""The pages of a file that have the words, and how relevant they are.

Relevance is that of OpenSearch for the same words, see queries/dsl/words.py: the BM25 of Lucene, in which pages that
are gone do not count.
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
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded.rows import sound
from opensearch_winnow.stores.embedded.text_index import Run, TextIndex, gone_of

TITLE, TEXT = 4.0, 1.0  # how much a word counts in each of them


class Found(NamedTuple):
    """Pages in the order of their numbers ('I'), and the score of each ('f')."""

    numbers: array[int]
    scores: array[float]


class _Weights(NamedTuple):
    title: Bm25
    text: Bm25


NO_WEIGHTS = _Weights(Bm25(0.0, 0, 0, []), Bm25(0.0, 0, 0, []))


@sound
def find(rows: sqlite3.Connection, words: Words, gone: array[int]) -> Found:
    """All pages that have the words, but for those that are gone (sorted)."""
    found = Found(array("I"), array("f"))
    alternatives, unwanted = phrases(words)
    if not alternatives:
        return found
    wanted = [part for each in alternatives for part in _parts(each)]
    index = TextIndex(rows)
    runs = [_RunOfPages(index, run, gone_of(run, gone)) for run in index.runs()]
    weights = _weights(index, runs, {phrase for each in wanted for phrase in each if phrase.words})
    while runs:
        run = runs.pop(0)  # with its bytes
        there = [[phrase for phrase in each if run.has(phrase)] for each in wanted]
        if all(there):
            board = run.board()
            for each in there:
                for phrase in each:
                    run.put(phrase, weights.get(phrase, NO_WEIGHTS), board)
                board.require()
            for phrase in filter(run.has, unwanted):
                run.put(phrase, NO_WEIGHTS, board)
                board.exclude()
            numbers, scores = board.hits(run.first)
            found.numbers.extend(numbers)
            found.scores.extend(scores)
    return found


def _parts(alternatives: list[Phrase]) -> list[list[Phrase]]:
    """Words and a prefix that have no alternative are two things that a page has to have."""
    if len(alternatives) == 1 and alternatives[0].words and alternatives[0].prefix:
        return [[Phrase(alternatives[0].words)], [Phrase((), alternatives[0].prefix)]]
    return [alternatives]


def _weights(index: TextIndex, runs: Sequence[_RunOfPages], asked: Iterable[Phrase]) -> dict[Phrase, _Weights]:
    titles, texts = index.lengths("title"), index.lengths("text")
    in_titles: Counter[str] = Counter()
    in_texts: Counter[str] = Counter()
    for word in {word for phrase in asked for word in phrase.words}:
        for run in runs:
            in_title, in_text = run.counted(word)
            in_titles[word] += in_title
            in_texts[word] += in_text
    return {
        phrase: _Weights(
            Bm25(TITLE, *titles, [in_titles[word] for word in phrase.words]),
            Bm25(TEXT, *texts, [in_texts[word] for word in phrase.words]),
        )
        for phrase in asked
    }


class _RunOfPages:
    """What a run has of the words that are looked for: each is read once."""

    def __init__(self, index: TextIndex, run: Run, gone: bytes | None) -> None:
        self.first = run.first
        self._index = index
        self._run = run
        self._gone = gone
        self._pages: dict[str, bytes | None] = {}
        self._starts: dict[str, list[bytes]] = {}

    def counted(self, word: str) -> tuple[int, int]:
        pages = self._pages_of(word)
        return (0, 0) if pages is None else document_frequencies(pages, self._gone)

    def has(self, phrase: Phrase) -> bool:
        """Whether there is each of its words, on whichever page."""
        return all(self._pages_of(word) is not None for word in phrase.words) and (
            not phrase.prefix or bool(self._pages_of_start(phrase.prefix))
        )

    def board(self) -> BooleanScorer:
        return BooleanScorer(*self._index.short_lengths(self._run), self._gone)

    def put(self, phrase: Phrase, weights: _Weights, board: BooleanScorer) -> None:
        """On a board, as an alternative."""
        if phrase.words and phrase.prefix:
            both = self.board()
            self._put_words(phrase.words, weights, both)
            both.require()
            both.add_prefix(self._pages_of_start(phrase.prefix), TITLE, TEXT)
            both.require()
            board.add_scorer(both)
        elif phrase.prefix:
            board.add_prefix(self._pages_of_start(phrase.prefix), TITLE, TEXT)
        else:
            self._put_words(phrase.words, weights, board)

    def _put_words(self, words: Sequence[str], weights: _Weights, board: BooleanScorer) -> None:
        if len(words) == 1:
            pages = self._pages_of(words[0])
            if pages is not None:
                board.add_word(pages, *weights)
            return
        different = list(dict.fromkeys(words))
        found = [self._index.pages_and_places(self._run, word) for word in different]
        board.add_phrase([each for each in found if each], [different.index(word) for word in words], *weights)

    def _pages_of(self, word: str) -> bytes | None:
        if word not in self._pages:
            self._pages[word] = self._index.pages(self._run, word)
        return self._pages[word]

    def _pages_of_start(self, start: str) -> list[bytes]:
        if start not in self._starts:
            self._starts[start] = self._index.pages_of_start(self._run, start)
        return self._starts[start]
