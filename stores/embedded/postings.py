"""Stores the postings of one field in SQLite: sorted runs, packed into blocks. Eight blocks fill a page of the file.

A row for each posting would be simple, but hashes come in random order: a batch of pages would touch every leaf of such
a tree, which costs more the larger it is. Here a batch is sorted and merged into the first of a few runs, each of which
holds up to eight times as much as the one before. A posting is moved only a few times in all, and takes at most 9 bytes
instead of 18.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import NamedTuple

from opensearch_winnow.cython_core.packed_postings import pack_postings, unpack_postings
from opensearch_winnow.cython_core.sorted_postings import document_frequency_histogram, drop_pages, merge_postings
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.stores.embedded.rows import reporting_damage
from opensearch_winnow.stores.embedded.seals import sealed, unsealed

# The id of a block (column `block_id`): three bits for the run, then the upper bits of its first token, as many as fit
# into a positive integer of SQLite. The lower bits of a token are its slot. Tokens that differ only in the slot are
# always in the same block.
TOKEN_BITS = 60
SLOT_BITS = 64 - TOKEN_BITS
MAX_TOKEN_PART = (1 << TOKEN_BITS) - 1  # the bits of a block id without the run
MAX_RUNS = 8
FIRST_RUN_POSTINGS = 1 << 16  # size of run 0: small enough to be rewritten for each page that is added alone
GROWTH = 8  # ratio of the sizes of two runs: run 3 has up to 33 million postings, of some 330,000 pages
# Eight blocks of this size fill a page of 8,192 bytes, with their keys and checksums. A lookup unpacks a whole block:
# smaller ones save little of its time.
BLOCK_BYTES = 1_002
BLOCKS_IN_MEMORY = 2_048  # of each run in memory while runs are merged
OUT_OF_ORDER = "postings are not in order"  # only in a damaged file


class SortedRun(NamedTuple):
    """Postings, sorted by token and page."""

    tokens: array[int]  # 'Q'
    pages: array[int]  # 'I'

    def cut(self, at: int) -> tuple[SortedRun, SortedRun]:
        """Return the postings of tokens below `at`, and the others."""
        index = bisect_left(self.tokens, at)
        return SortedRun(self.tokens[:index], self.pages[:index]), SortedRun(self.tokens[index:], self.pages[index:])


class Postings:
    """The postings of a field, read and written in a transaction of the caller.

    `table` has the columns `block_id` and `block`.
    """

    def __init__(self, db: sqlite3.Connection, table: str) -> None:
        self._db = db
        self._table = table

    def pages(self, tokens: Iterable[int]) -> Iterator[tuple[int, array[int]]]:
        """Yield tokens with their pages. A token comes once for each run that has it."""
        wanted = sorted(set(tokens))
        # The query returns each block once, although many tokens of a long question are in the same one.
        block_ids = [run << TOKEN_BITS | token >> SLOT_BITS for run in self._sizes() for token in wanted]
        found = self._db.execute(
            f"SELECT block_id, block FROM {self._table} WHERE block_id IN (SELECT ("
            f"SELECT max(block_id) FROM {self._table} WHERE block_id <= wanted.value) FROM json_each(?) AS wanted)",
            (json.dumps(block_ids),),
        )
        for block_id, block in found:
            check_cancelled()
            run = unpacked(block_id, block)
            low = bisect_left(wanted, run.tokens[0])
            high = bisect_right(wanted, run.tokens[-1])
            end = 0
            for token in wanted[low:high]:
                start = bisect_left(run.tokens, token, end)
                end = bisect_right(run.tokens, token, start)
                if start < end:
                    yield token, run.pages[start:end]

    def add(self, tokens: array[int], pages: array[int]) -> None:
        """Add postings that are in order."""
        sizes = self._sizes()
        total, run = len(tokens), 0
        while True:
            total += sizes.get(run, 0)
            if total <= FIRST_RUN_POSTINGS * GROWTH**run or run == MAX_RUNS - 1:
                break
            run += 1
        self._merge([each for each in sizes if each <= run], run, SortedRun(tokens, pages))

    def drop(self, pages: array[int]) -> None:
        """Remove the postings of `pages` (sorted), in one pass over all postings."""
        sizes = self._sizes()
        if sizes:
            self._merge(list(sizes), max(sizes), SortedRun(array("Q"), array("I")), pages)

    def frequencies(self, dropped: array[int]) -> dict[int, int]:
        """Return {n: number of tokens on exactly n pages}, without counting the `dropped` pages."""
        total: Counter[int] = Counter()
        for run in _merged([self._blocks(run) for run in self._sizes()]):
            total.update(document_frequency_histogram(drop_pages(*run, dropped)[0] if dropped else run.tokens))
        return dict(sorted(total.items()))

    def _sizes(self) -> dict[int, int]:
        """Return the number of postings of each run that exists."""
        rows = self._db.execute("SELECT run, postings FROM run WHERE field = ? ORDER BY run", (self._table,))
        return dict(rows.fetchall())

    def _merge(self, runs: list[int], target: int, more: SortedRun, dropped: array[int] | None = None) -> None:
        size = 0
        for run in _merged([iter([more]), *(self._blocks(run, take=True) for run in runs)]):
            if dropped:
                run = SortedRun(*drop_pages(*run, dropped))
            self._db.executemany(f"INSERT INTO {self._table} VALUES (?, ?)", _packed(run, target))
            size += len(run.tokens)
        self._db.execute("DELETE FROM run WHERE field = ? AND run <= ?", (self._table, target))
        if size:
            self._db.execute("INSERT INTO run VALUES (?, ?, ?)", (self._table, target, size))

    def _blocks(self, run: int, *, take: bool = False) -> Iterator[SortedRun]:
        """Yield the postings of a run, BLOCKS_IN_MEMORY blocks at a time; with `take`, delete them from the table."""
        block_id, end = run << TOKEN_BITS, ((run + 1) << TOKEN_BITS) - 1
        while True:
            rows = self._db.execute(
                f"SELECT block_id, block FROM {self._table} WHERE block_id BETWEEN ? AND ? ORDER BY block_id LIMIT ?",
                (block_id, end, BLOCKS_IN_MEMORY),
            ).fetchall()
            if not rows:
                return
            if take:  # before new blocks are written, so that these reuse the freed pages of the file
                self._db.execute(f"DELETE FROM {self._table} WHERE block_id BETWEEN ? AND ?", (rows[0][0], rows[-1][0]))
            part = SortedRun(array("Q"), array("I"))
            for at, block in rows:
                for numbers, more in zip(part, unpacked(at, block), strict=True):
                    numbers.extend(more)
            yield part
            # Continue after the last token, not after the last block id: blocks that were just written may lie between.
            block_id = (run << TOKEN_BITS | part.tokens[-1] >> SLOT_BITS) + 1
            if block_id <= rows[-1][0]:
                raise sqlite3.DatabaseError(OUT_OF_ORDER)


def _merged(sources: list[Iterator[SortedRun]]) -> Iterator[SortedRun]:
    """Merge sorted sources, and yield the postings in parts. Tokens that belong in one block are in one part."""
    waiting: list[SortedRun | None] = [next(source, None) for source in sources]
    while left := [run for run in waiting if run is not None]:
        last = min((run.tokens[-1] for run in left if run.tokens), default=0)
        at = ((last >> SLOT_BITS) + 1) << SLOT_BITS
        parts = []
        for index, run in enumerate(waiting):
            if run is not None:
                part, rest = run.cut(at)
                if rest.tokens and rest.tokens[-1] < at:  # the loop would never end
                    raise sqlite3.DatabaseError(OUT_OF_ORDER)
                parts.append(part)
                waiting[index] = rest if rest.tokens else next(sources[index], None)
        part = reduce(lambda a, b: SortedRun(*merge_postings(*a, *b)), sorted(parts, key=lambda run: len(run.tokens)))
        if part.tokens:
            yield part


def _packed(run: SortedRun, target: int) -> Iterator[tuple[int, bytes]]:
    """Yield the rows of postings for the run `target`."""
    for first, block in _blocks(run):
        block_id = target << TOKEN_BITS | first >> SLOT_BITS
        yield block_id, sealed(block, block_id)


@reporting_damage
def _blocks(run: SortedRun) -> list[tuple[int, bytes]]:
    return pack_postings(*run, BLOCK_BYTES, SLOT_BITS)


@reporting_damage
def unpacked(block_id: int, block: object) -> SortedRun:
    """Return the postings of a row."""
    return SortedRun(*unpack_postings(unsealed(block, block_id), (block_id & MAX_TOKEN_PART) << SLOT_BITS))
