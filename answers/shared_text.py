"""Divides a text into runs by how many pages have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.compare import Side, shared_passages
from opensearch_winnow.queries.spans import merged_spans


class SharedRun(NamedTuple):
    """A part of the text, with offsets in code points, and how many other pages have it."""

    start: int
    end: int
    pages: int


def shared_runs(
    length: int, one: Side, others: Sequence[tuple[Side, int]], scheme: Scheme, exclusions: Exclusions
) -> list[SharedRun]:
    """Divide a text of `length` code points into runs by how many pages have them.

    Each of `others` is a prepared text, and the number of pages with that text.
    """
    changes: Counter[int] = Counter()
    for side, pages in others:
        passages, _ = shared_passages(one, side, scheme, exclusions=exclusions)
        for start, end in merged_spans(passage[:2] for passage in passages):
            changes[start] += pages
            changes[end] -= pages
    runs: list[SharedRun] = []
    pages = 0
    for start, end in pairwise(sorted({0, length, *(place for place in changes if place < length)})):
        pages += changes[start]
        if runs and runs[-1].pages == pages:
            runs[-1] = runs[-1]._replace(end=end)
        else:
            runs.append(SharedRun(start, end, pages))
    return runs
