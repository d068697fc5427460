"""What repeated_shingles.pyx computes, in plain Python: short, slow, and readable."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def split_shingles(documents: Sequence[Sequence[int]], parts: int) -> tuple[list[int], list[int]]:
    """Return the block of some documents, and the number of shingles in each of its parts."""
    shingles = [shingle for document in documents for shingle in dict.fromkeys(document)]
    numbers = Counter(part_of(shingle, parts) for shingle in shingles)
    return sorted(shingles, key=lambda shingle: part_of(shingle, parts)), [numbers[part] for part in range(parts)]


def part_of(shingle: int, parts: int) -> int:
    return (shingle >> 32) * parts >> 32


def count_documents(shingles: Sequence[int]) -> list[int]:
    counts = Counter(shingles)
    return [2 * counts[shingle] + (shingle not in shingles[:i]) for i, shingle in enumerate(shingles)]


def document_marks(documents: Sequence[Sequence[int]], width: int) -> list[list[int]]:
    """Return what take_marks() returns, document by document."""
    counts = Counter(shingle for document in documents for shingle in set(document))
    seen: set[int] = set()
    marks = []
    for document in documents:
        first = [shingle not in seen and i < document.index(shingle) + width for i, shingle in enumerate(document)]
        marks.append([2 * counts[shingle] + is_first for shingle, is_first in zip(document, first, strict=True)])
        seen |= set(document)
    return marks


def repeated_runs(marks: Sequence[int], width: int, documents: int, every: bool) -> list[tuple[int, int, int]]:
    repeated = [i for i, mark in enumerate(marks) if mark // 2 >= documents and (every or mark % 2 == 0)]
    words = sorted({i + j for i in repeated for j in range(width)})
    runs = []
    for _, group in groupby(enumerate(words), lambda numbered: numbered[1] - numbered[0]):
        run = [word for _, word in group]
        runs.append((run[0], run[-1] + 1, min(marks[i] // 2 for i in repeated if run[0] <= i <= run[-1])))
    return runs
