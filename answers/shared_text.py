"""What pages have in common with one of them: its text, and how many of the others have each part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.compare import Passage, Side, shared_passages


class Run(NamedTuple):
    """A part of the text, in code points, and how many of the others have it."""

    start: int
    end: int
    pages: int


def shared_runs(
    length: int, one: Side, others: Sequence[tuple[Side, int]], scheme: Scheme, exclusions: Exclusions
) -> list[Run]:
    """All of the text, in order. Of the others each is a side, and how many pages have that text."""
    changes: Counter[int] = Counter()
    for side, pages in others:
        found, _ = shared_passages(one, side, scheme, exclusions=exclusions)
        for start, end in _united(found):
            changes[start] += pages
            changes[end] -= pages
    runs: list[Run] = []
    pages = 0
    for start, end in pairwise(sorted({0, length, *(place for place in changes if place < length)})):
        pages += changes[start]
        if runs and runs[-1].pages == pages:
            runs[-1] = runs[-1]._replace(end=end)
        else:
            runs.append(Run(start, end, pages))
    return runs


def _united(passages: Sequence[Passage]) -> Iterator[tuple[int, int]]:
    """Where in the text there is a passage: a part that is in the other text twice counts once."""
    last: tuple[int, int] | None = None
    for passage in sorted(passages):
        if last is None or passage.start > last[1]:
            if last is not None:
                yield last
            last = passage.start, passage.end
        else:
            last = last[0], max(last[1], passage.end)
    if last is not None:
        yield last
