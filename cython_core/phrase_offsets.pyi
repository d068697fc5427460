from collections.abc import Sequence

def phrase_offsets(
    text: str, phrases: Sequence[tuple[Sequence[str], bool]], *, max_per_phrase: int
) -> list[tuple[int, int, int]]: ...
