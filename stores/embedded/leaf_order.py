"""Orders new rows so that they fill the pages of the file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from opensearch_winnow.mappings.sqlite_schema import PAGE_SIZE

# From SQLite's file format. A leaf, a page with rows, has a header. A row that is too large for a leaf fills pages of
# its own, and only the rest of it is on the leaf, or its first bytes if the rest is too large as well.
LEAF_BYTES = PAGE_SIZE - 8
MAX_ROW_BYTES = PAGE_SIZE - 35
MIN_ROW_BYTES = (PAGE_SIZE - 12) * 32 // 255 - 23
OVERFLOW_BYTES = PAGE_SIZE - 4
ROW_HEADER_BYTES = 24  # at most: the row's number and size, the sizes of its columns, and where it is on the leaf


def leaf_order(sizes: Sequence[int], families: Sequence[str]) -> list[int]:
    """Return the indices of rows of these sizes, in an order in which few bytes of the leaves stay empty.

    SQLite appends rows to a leaf, and begins another where a row does not fit. In the order of a crawl, that leaves a
    fifth of the bytes empty. Here, each leaf gets the largest row that is left, then the largest that still fits. Then
    the rows of each family, which are about as large, are exchanged until they are in their old order.
    """
    order = []
    waiting = sorted(range(len(sizes)), key=lambda index: _bytes_on_leaf(sizes[index]))
    lengths = [_bytes_on_leaf(sizes[index]) for index in waiting]
    free = LEAF_BYTES
    while waiting:
        at = bisect_right(lengths, free) - 1
        if at < 0:
            at, free = len(waiting) - 1, LEAF_BYTES
        free -= lengths.pop(at)
        order.append(waiting.pop(at))
    members: dict[str, list[int]] = {}  # the first one last
    for index in reversed(range(len(sizes))):
        members.setdefault(families[index], []).append(index)
    return [members[families[index]].pop() for index in order]


def _bytes_on_leaf(size: int) -> int:
    if size > MAX_ROW_BYTES:
        rest = MIN_ROW_BYTES + (size - MIN_ROW_BYTES) % OVERFLOW_BYTES
        size = rest if rest <= MAX_ROW_BYTES else MIN_ROW_BYTES
    return size + ROW_HEADER_BYTES
