from array import array

from typing_extensions import Buffer

def best(numbers: Buffer, scores: Buffer, count: int) -> tuple[array[int], array[float], array[int], float]: ...
def among(
    numbers: Buffer, scores: Buffer, some: Buffer, *, left_out: bool = False
) -> tuple[array[int], array[float]]: ...
