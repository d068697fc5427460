"""A cache of values, bounded by the sum of their sizes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class LruCache(Generic[Value]):
    """Values by key. The least recently used are dropped when the sum of all sizes exceeds `room`."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: Hashable, value: Value, size: int) -> None:
        if key in self._values:
            self._room += self._values.pop(key)[1]
        self._values[key] = value, size
        self._room -= size
        while self._room < 0:
            _, (_, freed) = self._values.popitem(last=False)
            self._room += freed
