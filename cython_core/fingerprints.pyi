from array import array

SELECTIONS: tuple[str, ...]

def fingerprints(
    chars: str, k: int, w: int, selection: str = "winnow", key: int = 0, *, robust: bool = True
) -> tuple[array[int], array[int]]: ...
