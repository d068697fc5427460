"""Makes texts of words that nobody knows."""

from __future__ import annotations

from random import Random

LETTERS = Random(0)
LEXICON = ["".join(LETTERS.choices("abcdefghijklmnopqrstuvwxyz", k=LETTERS.randint(2, 9))) for _ in range(2_000)]


def sentences(words: int, seed: int = 0) -> str:
    """Return meaningless sentences, always the same for the same `seed`."""
    chosen = Random(seed).choices(LEXICON, k=words)
    return " ".join(word + "." * (index % 12 == 11) for index, word in enumerate(chosen))
