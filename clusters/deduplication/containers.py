"""Decides which rows are kept when rows are in other rows."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import accumulate

UNDECIDED, KEPT, DROPPED = range(3)


class Containers:
    """Chooses the rows to keep, so that every other row is in a kept one, and no kept row is in another.

    Of two rows that are in each other, the later yields to the earlier; else a row yields to every row that it is in. A
    row is kept if all rows that it yields to are dropped. If rows yield to each other in a circle, which takes three
    and a threshold below 1, the largest of them is kept.
    """

    def __init__(self, sizes: Sequence[int], always_kept: int = 0) -> None:
        """Take the number of shingles of each row, in the order of the rows. The first `always_kept` are kept."""
        self._sizes = sizes
        self._always_kept = always_kept
        self._edges = array("Q")  # twice the inner row, plus 1 if it yields, by outer row
        self._counts = array("Q", bytes(8 * len(sizes)))  # of edges by outer row
        self._waiting = array("I", bytes(4 * len(sizes)))  # rows not yet dropped that a row yields to
        self._last = 0  # outer row added

    def add(self, outer: int, inner: int, *, mutual: bool) -> None:
        """Add that one row is in another; `mutual` if they are in each other. Outer rows come in ascending order."""
        if outer < self._last:
            raise ValueError("add() expects outer rows in ascending order")
        self._last = outer
        if inner >= self._always_kept:
            yields = not mutual or outer < inner
            self._edges.append(2 * inner + yields)
            self._counts[outer] += 1
            self._waiting[inner] += yields

    def kept_containers(self) -> array[int]:
        """Return for each row the first kept row that it is in; a kept row has itself."""
        state = bytearray(len(self._sizes))
        starts = array("Q", accumulate(self._counts, initial=0))
        involved = [row for row in range(len(state)) if self._counts[row] or self._waiting[row]]
        ready = deque(row for row in involved if not self._waiting[row])
        by_size = iter(sorted(involved, key=lambda row: (row >= self._always_kept, -self._sizes[row], row)))
        while True:
            if not ready:
                largest = next((row for row in by_size if state[row] == UNDECIDED), None)
                if largest is None:
                    break
                ready.append(largest)
            kept = ready.popleft()
            if state[kept] != UNDECIDED:
                continue
            state[kept] = KEPT
            for edge in self._edges[starts[kept] : starts[kept + 1]]:
                if state[edge >> 1] == UNDECIDED:
                    state[edge >> 1] = DROPPED
                    ready.extend(self._free(edge >> 1, starts))
        return self._first_containers(involved, state, starts)

    def _free(self, dropped: int, starts: array[int]) -> Iterable[int]:
        """Yield the rows that need not wait any more after a row is dropped."""
        for edge in self._edges[starts[dropped] : starts[dropped + 1]]:
            if edge & 1:
                self._waiting[edge >> 1] -= 1
                if not self._waiting[edge >> 1]:
                    yield edge >> 1

    def _first_containers(self, involved: Iterable[int], state: bytearray, starts: array[int]) -> array[int]:
        containers = array("I", range(len(state)))
        for outer in involved:
            if state[outer] == KEPT:
                for edge in self._edges[starts[outer] : starts[outer + 1]]:
                    inner = edge >> 1
                    if state[inner] == DROPPED and containers[inner] == inner:
                        containers[inner] = outer
        return containers
