from array import array

from typing_extensions import Buffer

def top_scores(pages: Buffer, scores: Buffer, count: int) -> tuple[array[int], array[float], array[int], float]: ...
def filter_pages(
    pages: Buffer, scores: Buffer, selected: Buffer, *, exclude: bool = False
) -> tuple[array[int], array[float]]: ...
