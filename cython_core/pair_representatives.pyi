from array import array
from typing import Self, final

from typing_extensions import Buffer

@final
class PairRepresentatives:
    def __new__(cls, n: int) -> Self: ...
    @property
    def representatives(self) -> array[int]: ...
    def add(self, pairs: Buffer) -> None: ...
