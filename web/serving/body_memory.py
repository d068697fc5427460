"""Limits the memory for the bodies of all requests together."""

from __future__ import annotations

from typing import cast

from starlette.types import Scope

from opensearch_winnow.web.server_threads import BusyError

HELD = "winnow.held_memory"  # the key in a scope


class BodyMemory:
    """The bytes that all requests may hold at a time."""

    def __init__(self, size: int) -> None:
        self.left = size

    def hold(self, scope: Scope) -> HeldMemory:
        """Return the held memory of the request of this scope, which is empty at first."""
        held: HeldMemory = scope.setdefault(HELD, HeldMemory(self))
        return held


class HeldMemory:
    """The bytes that one request holds. All of this runs in the thread of the event loop."""

    def __init__(self, memory: BodyMemory) -> None:
        self._memory = memory
        self._size = 0

    def take(self, size: int) -> None:
        """Hold `size` bytes more; raise BusyError if others hold too many."""
        if size > self._memory.left:
            raise BusyError("other requests have sent too much at once: try again in a moment")
        self._memory.left -= size
        self._size += size

    def give_back(self) -> None:
        """Release all bytes."""
        self._memory.left += self._size
        self._size = 0


def held_memory(scope: Scope) -> HeldMemory:
    """Return the held memory of the request of this scope."""
    return cast("HeldMemory", scope[HELD])
