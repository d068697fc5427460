"""What word_runs.pyx computes, in plain Python."""

from __future__ import annotations

from opensearch_winnow.cython_core.reference import shared_runs


def word_runs(texts: list[list[str]], words: list[str], width: int, shortest: int) -> list[tuple[int, int, int, int]]:
    """Return the runs that `words` shares with each of `texts`, as (start, end, text, other_start)."""
    runs = []
    for number, text in enumerate(texts):
        if len(text) >= width:
            shared = shared_runs(words, text, width)
            runs += [(start, end, number, other_start) for start, end, other_start, _ in shared]
        elif len(text) >= shortest:
            starts = [i for i in range(len(words)) if words[i : i + len(text)] == text]
            runs += [(start, start + len(text), number, 0) for start in starts]
    return sorted(runs)
