"""Objects that hold a file, a connection or a view, and let it go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context manager that closes itself as its block is left."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held. Closing again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
