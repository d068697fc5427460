"""The full-text index of an embedded store, as tables of SQLite: the pages of each word, with its positions.

The pages of one write become a segment: their words in order, each with its pages, in blocks that fill a page of the
file. Page numbers only grow, so segments do not overlap, and neighbours are merged by appending, for each word, the
pages of one to those of the other. Eight segments of a tier become one of the next tier, so a word is moved only a few
times in all.
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
from opensearch_winnow.stores.embedded.rows import reporting_damage, required_row
from opensearch_winnow.stores.embedded.seals import SEAL_BYTES, sealed, unsealed

MERGE_FACTOR = 8  # segments of a tier that become one of the next
FIRST_TIER_WORDS = 4_096  # maximum words in a segment of the first tier
# A segment of more than FIRST_TIER_WORDS * 8 ** 4, some 17 million words, is not merged: rows must not grow forever.
TIERS = 5
MAX_NUMBER_GAP = 100_000  # unused page numbers between two segments that are merged; each takes two bytes
BLOCK_NUMBER_BITS = 32  # of a block id (column `block_id`) that count the blocks of its segment
BLOCKS_IN_MEMORY = 16  # of each segment during a merge

Field = Literal["title", "text"]
FIELDS: tuple[Field, Field] = get_args(Field)
Block = tuple[str, bytes, bytes]  # the first word, the words with their pages, their positions (column `positions`)


class TextSegment(NamedTuple):
    """The index of pages with consecutive numbers."""

    number: int
    first: int  # page number
    last: int  # page number
    words: int  # with repetitions

    @property
    def tier(self) -> int:
        tier, max_words = 0, FIRST_TIER_WORDS
        while self.words > max_words:
            tier, max_words = tier + 1, max_words * MERGE_FACTOR
        return tier


class FieldLength(NamedTuple):
    """The total length of all titles, or of all texts."""

    pages: int  # with at least one word
    words: int


class TextIndex:
    """Reads and writes the full-text index, in a transaction of the caller."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, numbers: Sequence[int], titles: Sequence[str], texts: Sequence[str]) -> None:
        """Add pages. Their numbers are in order, and higher than those of all pages before."""
        first, last = numbers[0], numbers[-1]
        blocks, *lengths = word_index([number - first for number in numbers], titles, texts)
        self._db.executemany("INSERT INTO word_lengths VALUES (?, ?, ?)", zip(numbers, *lengths, strict=True))
        for field, each in zip(FIELDS, lengths, strict=True):
            self._count(field, len(each) - each.count(0), sum(each))
        (number,) = self._db.execute("SELECT coalesce(max(run), 0) + 1 FROM word_run").fetchone()
        segment = TextSegment(number, first, last, sum(map(sum, lengths)))
        self._add_segment(segment, blocks, *(_short_lengths(segment, numbers, each) for each in lengths))
        self._merge_segments()

    @reporting_damage
    def forget(self, numbers: Iterable[int]) -> None:
        """Stop counting pages that were deleted. Their postings stay until `drop`."""
        for number in numbers:
            lengths = required_row(self._db.execute("SELECT title, text FROM word_lengths WHERE number = ?", (number,)))
            for field, words in zip(FIELDS, lengths, strict=True):
                self._count(field, -(words > 0), -words)
            self._db.execute("DELETE FROM word_lengths WHERE number = ?", (number,))

    @reporting_damage
    def drop(self, pages: array[int]) -> None:
        """Remove the postings of `pages` (sorted), in one pass over the index."""
        for segment in self.segments():
            gone = gone_mask(segment, pages)
            if gone is not None:
                self._replace([segment], segment, gone)

    def clear(self) -> None:
        """Empty the index, if the store has no pages."""
        for table in ("word_block", "word_run", "word_lengths"):
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("UPDATE word_total SET pages = 0, words = 0")

    def segments(self) -> list[TextSegment]:
        """Return the segments in the order of their pages."""
        rows = self._db.execute("SELECT run, first, last, words, length(titles) FROM word_run ORDER BY run").fetchall()
        segments = [TextSegment(*row[:4]) for row in rows if all(isinstance(each, int) for each in row)]
        sizes = [row[4] for row in rows]
        if sizes != [segment.last - segment.first + 1 + SEAL_BYTES for segment in segments] or any(
            segment.last >= after.first for segment, after in pairwise(segments)
        ):
            raise sqlite3.DatabaseError("the segments of the text index are inconsistent")
        return segments

    def lengths(self, field: Field) -> FieldLength:
        pages, words = required_row(self._db.execute("SELECT pages, words FROM word_total WHERE field = ?", (field,)))
        return FieldLength(pages, words)

    def short_lengths(self, segment: TextSegment) -> tuple[bytes, bytes]:
        """Return the lengths of the titles and of the texts, rounded to a byte for each page."""
        titles, texts = required_row(
            self._db.execute("SELECT titles, texts FROM word_run WHERE run = ?", (segment.number,))
        )
        return unsealed(titles, segment.number), unsealed(texts, segment.number)

    def pages(self, segment: TextSegment, word: str) -> bytes | None:
        """Return the encoded pages of a word; None if the segment does not have it."""
        block = self._block(["words"], segment, word)
        found = block and find_word(block[0], word)
        return found[0] if found else None

    def pages_and_positions(self, segment: TextSegment, word: str) -> tuple[bytes, bytes] | None:
        """Return the encoded pages of a word, and its positions in them."""
        block = self._block(["words", "positions"], segment, word)
        found = block and find_word(block[0], word)
        return (found[0], block[1][found[1] : found[2]]) if block and found else None

    def pages_with_prefix(self, segment: TextSegment, prefix: str) -> list[bytes]:
        """Return the encoded pages of each word that starts with `prefix`."""
        blocks = self._db.execute(
            "SELECT block_id, words FROM word_block WHERE run = ?1 AND first <= ?2 AND first >= coalesce("
            "(SELECT max(first) FROM word_block WHERE run = ?1 AND first <= ?3), '') ORDER BY first",
            (segment.number, prefix + "\U0010ffff", prefix),  # no word has this character
        )
        return [pages for block_id, words in blocks for pages in find_prefix(unsealed(words, block_id), prefix)]

    def _block(self, columns: Sequence[str], segment: TextSegment, word: str) -> list[bytes] | None:
        """Return columns of the block that has the word, if the segment has it at all."""
        row = self._db.execute(
            f"SELECT block_id, {', '.join(columns)} FROM word_block WHERE run = ? AND first <= ?"
            " ORDER BY first DESC LIMIT 1",
            (segment.number, word),
        ).fetchone()
        return None if row is None else [unsealed(each, row[0]) for each in row[1:]]

    def _count(self, field: Field, pages: int, words: int) -> None:
        self._db.execute(
            "UPDATE word_total SET pages = pages + ?, words = words + ? WHERE field = ?", (pages, words, field)
        )

    @reporting_damage
    def _add_segment(self, segment: TextSegment, blocks: Iterable[Block], titles: bytes, texts: bytes) -> None:
        start = self._last_block_id(segment)  # after the segment's old blocks, if pages are dropped from it
        for block_id, block in enumerate(blocks, segment.number << BLOCK_NUMBER_BITS if start is None else start + 1):
            first, words, positions = block
            row = (block_id, segment.number, first, sealed(words, block_id), sealed(positions, block_id))
            self._db.execute("INSERT INTO word_block VALUES (?, ?, ?, ?, ?)", row)
        lengths = (sealed(titles, segment.number), sealed(texts, segment.number))
        self._db.execute("INSERT INTO word_run VALUES (?, ?, ?, ?, ?, ?)", (*segment, *lengths))

    def _last_block_id(self, segment: TextSegment) -> int | None:
        block_ids = (segment.number << BLOCK_NUMBER_BITS, ((segment.number + 1) << BLOCK_NUMBER_BITS) - 1)
        block_id: int | None = self._db.execute(
            "SELECT max(block_id) FROM word_block WHERE block_id BETWEEN ? AND ?", block_ids
        ).fetchone()[0]
        return block_id

    def _merge_segments(self) -> None:
        """Merge the newest segments of each tier if there are MERGE_FACTOR of them."""
        for tier in range(TIERS):
            newest: list[TextSegment] = []
            for segment in reversed(self.segments()):
                if segment.tier > tier or (newest and newest[0].first - segment.last > MAX_NUMBER_GAP):
                    break
                newest.insert(0, segment)
            if sum(segment.tier == tier for segment in newest) >= MERGE_FACTOR:
                words = sum(segment.words for segment in newest)
                merged = TextSegment(newest[-1].number + 1, newest[0].first, newest[-1].last, words)
                self._replace(newest, merged)

    @reporting_damage
    def _replace(self, segments: Sequence[TextSegment], new: TextSegment, gone: bytes | None = None) -> None:
        """Replace neighbouring segments with one, without the pages that are `gone`."""
        lengths = [self.short_lengths(segment) for segment in segments]
        gaps = [bytes(after.first - segment.last - 1) for segment, after in pairwise(segments)]
        titles, texts = (
            b"".join(part for each in zip(some, [*gaps, b""], strict=True) for part in each)
            for some in zip(*lengths, strict=True)
        )
        sources = [(segment.first - new.first, self._take_blocks(segment)) for segment in segments]
        blocks = MergedSegments(sources, gone)
        self._db.executemany("DELETE FROM word_run WHERE run = ?", [(segment.number,) for segment in segments])
        self._add_segment(new, blocks, titles, texts)

    def _take_blocks(self, segment: TextSegment) -> Iterator[tuple[bytes, bytes]]:
        """Yield the blocks of a segment, and delete them from the table."""
        block_id, end = segment.number << BLOCK_NUMBER_BITS, self._last_block_id(segment)
        while True:
            rows = self._db.execute(
                "SELECT block_id, words, positions FROM word_block"
                " WHERE block_id BETWEEN ? AND ? ORDER BY block_id LIMIT ?",
                (block_id, end, BLOCKS_IN_MEMORY),
            ).fetchall()
            if not rows:
                return
            block_id = rows[-1][0] + 1
            # Deleted before new blocks are written, so that these reuse the freed pages of the file.
            self._db.execute("DELETE FROM word_block WHERE block_id BETWEEN ? AND ?", (rows[0][0], block_id - 1))
            for at, words, positions in rows:
                yield unsealed(words, at), unsealed(positions, at)


def gone_mask(segment: TextSegment, gone: array[int]) -> bytes | None:
    """Return a byte for each page of a segment, 1 if it is in `gone` (sorted); None if none of them is."""
    numbers = gone[bisect_left(gone, segment.first) : bisect_right(gone, segment.last)]
    if not numbers:
        return None
    mask = bytearray(segment.last - segment.first + 1)
    for number in numbers:
        mask[number - segment.first] = 1
    return bytes(mask)


def _short_lengths(segment: TextSegment, numbers: Iterable[int], lengths: Iterable[int]) -> bytes:
    short = bytearray(segment.last - segment.first + 1)
    for number, length in zip(numbers, lengths, strict=True):
        short[number - segment.first] = encode_length(length)
    return bytes(short)
