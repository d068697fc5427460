from array import array
from collections.abc import Sequence

def word_index(
    pages: Sequence[int], titles: Sequence[str], texts: Sequence[str]
) -> tuple[list[tuple[str, bytes, bytes]], array[int], array[int]]: ...
