"""The base class of objects that hold a file, a connection or a view until they are closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context manager that closes itself when its block is left."""

    @abstractmethod
    def close(self) -> None:
        """Release what this object holds. Closing again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
