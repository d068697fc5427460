from array import array
from typing import Self, final

from opensearch_winnow.cython_core.canonical_text import CanonicalText

@final
class TextSketches:
    def __new__(
        cls,
        texts: list[CanonicalText],
        *,
        width: int,
        key: int,
        modulus: int,
        bins: int,
        bits: int,
        bands: int,
        rows: int,
    ) -> Self: ...
    @property
    def shingle_counts(self) -> array[int]: ...
    @property
    def shingles(self) -> array[int]: ...
    @property
    def sketch_counts(self) -> array[int]: ...
    @property
    def sketch(self) -> array[int]: ...
    @property
    def minhash(self) -> bytes: ...
    @property
    def bands(self) -> array[int]: ...
