"""The words of titles and texts in SQLite: which pages have them, how often, and where.

The pages of a write are a run: its words in order, with their pages, in blocks that fill a page of the file. Numbers of
pages grow, so that runs follow each other, and neighbours become one by putting the pages of each word one behind the
other. That is done with eight of a kind, which become one of the next: a word is moved a few times in all.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from opensearch_winnow.cython_core.word_index import word_index
from opensearch_winnow.cython_core.word_scores import encode_length
from opensearch_winnow.cython_core.word_segments import MergedSegments, find_prefix, find_word
from opensearch_winnow.stores.embedded.rows import Row, only, sound

JOINED = 8
SMALLEST = 4_096  # words in a run of the first kind
# So that no row grows without end: a run of more than SMALLEST * 8 ** 4, some 17 million words, stays as it is.
KINDS = 5
GAP = 100_000  # numbers of pages that are gone, between runs that stay apart: each would take two bytes
PLACE = 32  # bits of a block's place that count the blocks of its run
AT_ONCE = 16  # blocks in memory, of each run, while some become one

Field = Literal["title", "text"]
FIELDS: tuple[Field, Field] = get_args(Field)
Block = tuple[str, bytes, bytes]  # its first word, the words, the places


class Run(NamedTuple):
    number: int
    first: int
    last: int
    words: int

    @property
    def kind(self) -> int:
        kind, most = 0, SMALLEST
        while self.words > most:
            kind, most = kind + 1, most * JOINED
        return kind


class Lengths(NamedTuple):
    """Of all titles, or of all texts."""

    pages: int  # with at least one word
    words: int


class TextIndex:
    """In a transaction of the caller's."""

    def __init__(self, rows: sqlite3.Connection) -> None:
        self._rows = rows

    def add(self, numbers: Sequence[int], titles: Sequence[str], texts: Sequence[str]) -> None:
        """Pages by their numbers, which are in order, and higher than all before."""
        first, last = numbers[0], numbers[-1]
        blocks, *lengths = word_index([number - first for number in numbers], titles, texts)
        self._rows.executemany("INSERT INTO word_lengths VALUES (?, ?, ?)", zip(numbers, *lengths, strict=True))
        for field, each in zip(FIELDS, lengths, strict=True):
            self._count(field, len(each) - each.count(0), sum(each))
        (number,) = self._rows.execute("SELECT coalesce(max(run), 0) + 1 FROM word_run").fetchone()
        run = Run(number, first, last, sum(map(sum, lengths)))
        self._add_run(run, blocks, *(_short(run, numbers, each) for each in lengths))
        self._join()

    @sound
    def forget(self, numbers: Iterable[int]) -> None:
        """Pages are gone. They are not counted any more, and their postings stay until they are dropped."""
        for number in numbers:
            lengths = only(self._rows.execute("SELECT title, text FROM word_lengths WHERE number = ?", (number,)))
            for field, words in zip(FIELDS, lengths, strict=True):
                self._count(field, -(words > 0), -words)
            self._rows.execute("DELETE FROM word_lengths WHERE number = ?", (number,))

    @sound
    def drop(self, pages: array[int]) -> None:
        """Take out the postings of some pages (sorted), in one pass over all."""
        for run in self.runs():
            gone = gone_of(run, pages)
            if gone is not None:
                self._replace([run], run, gone)

    def clear(self) -> None:
        """When there is no page."""
        for table in ("word_block", "word_run", "word_lengths"):
            self._rows.execute(f"DELETE FROM {table}")
        self._rows.execute("UPDATE word_total SET pages = 0, words = 0")

    def runs(self) -> list[Run]:
        """In the order of their pages."""
        found = self._rows.execute(
            "SELECT run, first, last, words, length(titles) FROM word_run ORDER BY run"
        ).fetchall()
        runs = [Run(*row[:4]) for row in found if all(isinstance(each, int) for each in row)]
        sizes = [row[4] for row in found]
        if sizes != [run.last - run.first + 1 for run in runs] or any(
            run.last >= after.first for run, after in pairwise(runs)
        ):
            raise sqlite3.DatabaseError("runs of words make no sense")
        return runs

    def lengths(self, field: Field) -> Lengths:
        pages, words = only(self._rows.execute("SELECT pages, words FROM word_total WHERE field = ?", (field,)))
        return Lengths(pages, words)

    def short_lengths(self, run: Run) -> tuple[bytes, bytes]:
        """Of the titles and of the texts: a byte for each page."""
        titles, texts = only(self._rows.execute("SELECT titles, texts FROM word_run WHERE run = ?", (run.number,)))
        return titles, texts

    def pages(self, run: Run, word: str) -> bytes | None:
        block = self._block("words", run, word)
        found = block and find_word(block[0], word)
        return found[0] if found else None

    def pages_and_places(self, run: Run, word: str) -> tuple[bytes, bytes] | None:
        block = self._block("words, places", run, word)
        found = block and find_word(block[0], word)
        return (found[0], block[1][found[1] : found[2]]) if block and found else None

    def pages_of_start(self, run: Run, start: str) -> list[bytes]:
        """Of each word that starts so."""
        found = self._rows.execute(
            "SELECT words FROM word_block WHERE run = ?1 AND first <= ?2 AND first >= coalesce("
            "(SELECT max(first) FROM word_block WHERE run = ?1 AND first <= ?3), '') ORDER BY first",
            (run.number, start + "\U0010ffff", start),  # no character of a word is as high
        )
        return [pages for (words,) in found for pages in find_prefix(words, start)]

    def _block(self, columns: str, run: Run, word: str) -> Row | None:
        """In which the word is, if it is anywhere."""
        row: Row | None = self._rows.execute(
            f"SELECT {columns} FROM word_block WHERE run = ? AND first <= ? ORDER BY first DESC LIMIT 1",
            (run.number, word),
        ).fetchone()
        return row

    def _count(self, field: Field, pages: int, words: int) -> None:
        self._rows.execute(
            "UPDATE word_total SET pages = pages + ?, words = words + ? WHERE field = ?", (pages, words, field)
        )

    @sound
    def _add_run(self, run: Run, blocks: Iterable[Block], titles: bytes, texts: bytes) -> None:
        start = self._last_place(run)  # behind those that it had before, if some of its pages are dropped
        for place, block in enumerate(blocks, run.number << PLACE if start is None else start + 1):
            self._rows.execute("INSERT INTO word_block VALUES (?, ?, ?, ?, ?)", (place, run.number, *block))
        self._rows.execute("INSERT INTO word_run VALUES (?, ?, ?, ?, ?, ?)", (*run, titles, texts))

    def _last_place(self, run: Run) -> int | None:
        places = (run.number << PLACE, ((run.number + 1) << PLACE) - 1)
        place: int | None = self._rows.execute(
            "SELECT max(place) FROM word_block WHERE place BETWEEN ? AND ?", places
        ).fetchone()[0]
        return place

    def _join(self) -> None:
        """Where there are many small runs, the newest first."""
        for kind in range(KINDS):
            some: list[Run] = []
            for run in reversed(self.runs()):
                if run.kind > kind or (some and some[0].first - run.last > GAP):
                    break
                some.insert(0, run)
            if sum(run.kind == kind for run in some) >= JOINED:
                self._replace(some, Run(some[-1].number + 1, some[0].first, some[-1].last, sum(r.words for r in some)))

    @sound
    def _replace(self, runs: Sequence[Run], new: Run, gone: bytes | None = None) -> None:
        """Put one run in the place of neighbours."""
        lengths = [self.short_lengths(run) for run in runs]
        gaps = [bytes(after.first - run.last - 1) for run, after in pairwise(runs)]
        titles, texts = (
            b"".join(part for each in zip(some, [*gaps, b""], strict=True) for part in each)
            for some in zip(*lengths, strict=True)
        )
        sources = [(run.first - new.first, self._taken(run)) for run in runs]
        blocks = MergedSegments(sources, gone)
        self._rows.executemany("DELETE FROM word_run WHERE run = ?", [(run.number,) for run in runs])
        self._add_run(new, blocks, titles, texts)

    def _taken(self, run: Run) -> Iterator[tuple[bytes, bytes]]:
        """The blocks of a run, which are gone from the table then."""
        place, end = run.number << PLACE, self._last_place(run)
        while True:
            rows = self._rows.execute(
                "SELECT place, words, places FROM word_block WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
                (place, end, AT_ONCE),
            ).fetchall()
            if not rows:
                return
            place = rows[-1][0] + 1
            # Before the next are written: they get the pages that become free.
            self._rows.execute("DELETE FROM word_block WHERE place BETWEEN ? AND ?", (rows[0][0], place - 1))
            for _, words, places in rows:
                yield words, places


def gone_of(run: Run, gone: array[int]) -> bytes | None:
    """A byte for each page of a run, 1 for those that are gone (sorted); None if all are there."""
    some = gone[bisect_left(gone, run.first) : bisect_right(gone, run.last)]
    if not some:
        return None
    mask = bytearray(run.last - run.first + 1)
    for number in some:
        mask[number - run.first] = 1
    return bytes(mask)


def _short(run: Run, numbers: Iterable[int], lengths: Iterable[int]) -> bytes:
    short = bytearray(run.last - run.first + 1)
    for number, length in zip(numbers, lengths, strict=True):
        short[number - run.first] = encode_length(length)
    return bytes(short)
