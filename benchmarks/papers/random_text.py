"""Random text, the same in every run."""

from __future__ import annotations

from random import Random

ALPHABET = b"abcdefghijklmnopqrstuvwxyz234567"  # 32 letters, so that each byte gives one without a bias


def random_text(length: int, seed: int, alphabet: bytes = ALPHABET) -> str:
    """Return `length` letters, each equally likely if the size of the alphabet is a power of two."""
    table = bytes(alphabet[byte % len(alphabet)] for byte in range(256))
    return Random(seed).randbytes(length).translate(table).decode()
