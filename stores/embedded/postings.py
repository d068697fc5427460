"""The postings of one field in SQLite: sorted runs, cut into blocks that fill a page of the file.

A row for each token and page would be plain, but hashes come in no order: a batch of pages touches every leaf of such a
tree, which costs more the larger it is. Here a batch is sorted and merged into the first of a few runs, each of which
holds up to eight times as much as the one before: a posting is moved a few times in all, and it takes 12 bytes, not 18.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from opensearch_winnow.cython_core.sorted_postings import document_frequency_histogram, drop_pages, merge_postings
from opensearch_winnow.mappings.record import in_order

# A row is found by its place: the run in three bits, then as many bits of its first token as are left of a positive
# integer of SQLite. The other bits of a token are the slot; tokens that differ in it only are always in one block.
PLACE = 60
SLOT = 64 - PLACE
RUNS = 8
FIRST_RUN = 1 << 16  # postings that fit in run 0: few enough to be moved with each page that is added alone
GROWTH = 8  # how much larger each run is than the one before: 33 million in run 3, of some 330,000 pages
POSTING = 12  # bytes
BLOCK = 679  # postings that fill a page of 8,192 bytes; of one token there may be more
WINDOW = 256  # blocks of each run in memory while runs are merged
DISORDER = "postings are not in order"  # which they are unless the file is damaged


class Run(NamedTuple):
    """Postings in order."""

    tokens: array[int]  # 'Q'
    pages: array[int]  # 'I'

    def cut(self, at: int) -> tuple[Run, Run]:
        """The postings of tokens below, and the others."""
        place = bisect_left(self.tokens, at)
        return Run(self.tokens[:place], self.pages[:place]), Run(self.tokens[place:], self.pages[place:])


class Postings:
    """Of a field, in a transaction of the caller's. `table` has columns `place` and `block`."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._rows = connection
        self._table = table

    def pages(self, tokens: array[int]) -> Iterator[tuple[int, array[int]]]:
        """Where tokens are: pairs of a token and pages, as many as there are runs with the token."""
        wanted = sorted(set(tokens))
        # One entry a block: tokens of a long question are in the same ones.
        places = [run << PLACE | token >> SLOT for run in self._sizes() for token in wanted]
        found = self._rows.execute(
            f"SELECT block FROM {self._table} WHERE place IN (SELECT ("
            f"SELECT max(place) FROM {self._table} WHERE place <= wanted.value) FROM json_each(?) AS wanted)",
            (json.dumps(places),),
        )
        for (block,) in found:
            run = _run(block)
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
            if total <= FIRST_RUN * GROWTH**run or run == RUNS - 1:
                break
            run += 1
        self._merge([each for each in sizes if each <= run], run, Run(tokens, pages))

    def drop(self, pages: array[int]) -> None:
        """Take out the postings of some pages (sorted), in one pass over all."""
        sizes = self._sizes()
        if sizes:
            self._merge(list(sizes), max(sizes), Run(array("Q"), array("I")), pages)

    def frequencies(self, dropped: array[int]) -> dict[int, int]:
        """How many tokens are on so many pages, but for some pages: {pages: tokens}."""
        total: Counter[int] = Counter()
        for run in _merged([self._blocks(run) for run in self._sizes()]):
            total.update(document_frequency_histogram(drop_pages(*run, dropped)[0] if dropped else run.tokens))
        return dict(sorted(total.items()))

    def _sizes(self) -> dict[int, int]:
        """The runs that there are, with their numbers of postings."""
        rows = self._rows.execute("SELECT run, postings FROM run WHERE field = ? ORDER BY run", (self._table,))
        return dict(rows.fetchall())

    def _merge(self, runs: list[int], target: int, more: Run, dropped: array[int] | None = None) -> None:
        size = 0
        for run in _merged([iter([more]), *(self._blocks(run, take=True) for run in runs)]):
            if dropped:
                run = Run(*drop_pages(*run, dropped))
            rows = ((target << PLACE | block.tokens[0] >> SLOT, _bytes(block)) for block in _blocks(run))
            self._rows.executemany(f"INSERT INTO {self._table} VALUES (?, ?)", rows)
            size += len(run.tokens)
        self._rows.execute("DELETE FROM run WHERE field = ? AND run <= ?", (self._table, target))
        if size:
            self._rows.execute("INSERT INTO run VALUES (?, ?, ?)", (self._table, target, size))

    def _blocks(self, run: int, *, take: bool = False) -> Iterator[Run]:
        """The run, WINDOW blocks at a time; with `take`, they are gone from the table."""
        place, end = run << PLACE, ((run + 1) << PLACE) - 1
        while True:
            rows = self._rows.execute(
                f"SELECT place, block FROM {self._table} WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
                (place, end, WINDOW),
            ).fetchall()
            if not rows:
                return
            if take:  # before the next are written: they get the pages that become free
                self._rows.execute(f"DELETE FROM {self._table} WHERE place BETWEEN ? AND ?", (rows[0][0], rows[-1][0]))
            window = Run(array("Q"), array("I"))
            for _, block in rows:
                for numbers, more in zip(window, _run(block), strict=True):
                    numbers.extend(more)
            yield window
            # Behind its last token, not behind its last place: in between there may be blocks that were just written.
            place = (run << PLACE | window.tokens[-1] >> SLOT) + 1
            if place <= rows[-1][0]:
                raise sqlite3.DatabaseError(DISORDER)


def _merged(sources: list[Iterator[Run]]) -> Iterator[Run]:
    """All postings in order, a part at a time. No part ends within the tokens that have to be in one block."""
    waiting: list[Run | None] = [next(source, None) for source in sources]
    while left := [run for run in waiting if run is not None]:
        last = min((run.tokens[-1] for run in left if run.tokens), default=0)
        at = ((last >> SLOT) + 1) << SLOT
        parts = []
        for index, run in enumerate(waiting):
            if run is not None:
                part, rest = run.cut(at)
                if rest.tokens and rest.tokens[-1] < at:  # it would never end
                    raise sqlite3.DatabaseError(DISORDER)
                parts.append(part)
                waiting[index] = rest if rest.tokens else next(sources[index], None)
        part = reduce(lambda a, b: Run(*merge_postings(*a, *b)), sorted(parts, key=lambda run: len(run.tokens)))
        if part.tokens:
            yield part


def _blocks(run: Run) -> Iterator[Run]:
    start, tokens = 0, run.tokens
    while start < len(tokens):
        end = start + BLOCK
        if end < len(tokens):
            slot = tokens[end] >> SLOT << SLOT
            end = bisect_left(tokens, slot, start, end)
            if end == start:
                end = bisect_left(tokens, slot + (1 << SLOT), start)
        if end <= start:
            raise sqlite3.DatabaseError(DISORDER)
        yield Run(tokens[start:end], run.pages[start:end])
        start = end


def _bytes(run: Run) -> bytes:
    return in_order(run.tokens, "little") + in_order(run.pages, "little")


def _run(block: bytes) -> Run:
    count, rest = divmod(len(block or b""), POSTING)
    if rest or not count or not isinstance(block, bytes):
        raise sqlite3.DatabaseError("a block of postings has a wrong length")
    run = Run(array("Q", block[: 8 * count]), array("I", block[8 * count :]))
    if sys.byteorder == "big":
        for numbers in run:
            numbers.byteswap()
    return run
