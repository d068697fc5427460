from array import array
from typing import Final

from typing_extensions import Buffer

DIFFERENT: Final[int]
ALIKE: Final[int]
UNCERTAIN: Final[int]

def pair_verdicts(
    pairs: Buffer,
    minhashes: Buffer,
    counts: Buffer,
    size: int,
    *,
    threshold: float,
    bits: int = 4,
    clear: float = 5.0,
) -> tuple[array[float], array[float], array[int]]: ...
