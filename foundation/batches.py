"""Divides items into batches, by number or by size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of `size`; the last one may be shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def batches_by_size(
    items: Iterable[Item], size_of: Callable[[Item], int], max_size: int, max_items: int | None = None
) -> Iterator[list[Item]]:
    """Yield the items in lists. A list ends when the sizes of its items sum up to `max_size`, or at `max_items`."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += size_of(item)
        if len(batch) == max_items or size >= max_size:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
