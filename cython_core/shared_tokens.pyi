from array import array
from typing import Self, final

from typing_extensions import Buffer

@final
class SharedTokens:
    def __new__(
        cls, tokens: Buffer, counts: Buffer, weights: array[float] | None = None, groups: array[int] | None = None
    ) -> Self: ...
    @property
    def sets(self) -> int: ...
    def weight(self, number: int) -> float: ...
    def after(self, number: int) -> tuple[array[int], array[int], array[float]]: ...
