from array import array
from typing import Final, Self, final

from typing_extensions import Buffer

REPRESENTATIVE: Final[int]
UNDECIDED: Final[int]

@final
class RepresentativeAssignment:
    def __new__(
        cls,
        minhashes: bytes | bytearray | memoryview,
        counts: Buffer,
        ready: int,
        *,
        threshold: float,
        bits: int = 4,
        clear: float = 5.0,
    ) -> Self: ...
    @property
    def representatives(self) -> array[int]: ...
    @property
    def resemblances(self) -> array[float]: ...
    @property
    def errors(self) -> array[float]: ...
    def decide(self, known: Buffer, exact: Buffer, at_most: int) -> array[int]: ...
