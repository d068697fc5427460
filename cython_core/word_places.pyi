from collections.abc import Sequence

def word_places(
    text: str, phrases: Sequence[tuple[Sequence[str], bool]], *, most: int
) -> list[tuple[int, int, int]]: ...
