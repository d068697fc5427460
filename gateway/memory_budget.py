"""A budget of memory for all requests of a gateway together."""

from __future__ import annotations

from threading import Lock
from types import TracebackType
from typing import Self


class MemoryBudget:
    """Counts the bytes that all requests together hold, and refuses more than the budget.

    Usage: `with budget.reservation() as memory: if memory.grow(len(piece)): …`
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.used = 0
        self._lock = Lock()  # bodies are decompressed in threads

    def reservation(self) -> Reservation:
        """Return the reservation of one request, which is empty at first."""
        return Reservation(self)

    def change(self, by: int) -> bool:
        """Change the number of used bytes; return False, and change nothing, if that would exceed the budget."""
        with self._lock:
            if by > 0 and self.used + by > self.size:
                return False
            self.used += by
            return True


class Reservation:
    """The bytes that a request holds. At the end of the context, they are given back in any case."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._size = 0
        self._is_over = False
        self.was_refused = False  # True after a `grow` that returned False

    def grow(self, by: int) -> bool:
        """Reserve bytes before they are used; return False if none are left, and the request must do without them."""
        if self._is_over or not self._budget.change(by):
            self.was_refused = True
            return False
        self._size += by
        return True

    def shrink(self, to: int = 0) -> None:
        """Give back all but `to` bytes, or nothing if there are fewer."""
        if self._size > to:
            self._budget.change(to - self._size)
            self._size = to

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_over = True
        self.shrink()
