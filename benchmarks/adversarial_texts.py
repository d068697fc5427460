"""Makes texts that slow winnowing down, as somebody could who knows the hash of a scheme without a key.

The hash of a k-gram is a sum: a part from all characters but the last, plus the number of the last. So the author of a
text can choose the hash of each next k-gram, as finely as the alphabet allows.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import cycle, islice
from random import Random
from typing import TYPE_CHECKING

from tests.cython_core.reference import WORD, char_value, radix

if TYPE_CHECKING:
    from collections.abc import Iterable

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
IDEOGRAPHS = "".join(map(chr, range(0x4E00, 0x4E00 + 20_000)))
HASH_LIMIT = WORD + 1  # hashes are below this


class Writer:
    """Appends characters to a text, chosen by the hash of the k-gram that they complete."""

    def __init__(self, k: int, alphabet: str) -> None:
        self.k = k
        self.alphabet = alphabet
        self.values = sorted((char_value(char), char) for char in alphabet)
        self.value = {char: value for value, char in self.values}
        self.base = radix()
        self.leaving = pow(self.base, k, HASH_LIMIT)
        self.random = Random(k)
        self.chars: list[str] = []
        self.hash = 0
        for _ in range(k):
            self.write_any()

    def write(self, char: str) -> int:
        self.hash = (self._without_last() + self.value[char]) & WORD
        self.chars.append(char)
        return self.hash

    def write_any(self) -> int:
        return self.write(self.random.choice(self.alphabet))

    def next_above(self, hash_: int) -> str:
        """Return the character with the smallest hash at or above `hash_`, or the smallest of all if there is none."""
        wanted = (hash_ - self._without_last()) & WORD
        return self.values[bisect_left(self.values, (wanted,)) % len(self.values)][1]

    def next_below(self, hash_: int) -> str:
        wanted = (hash_ - self._without_last()) & WORD
        return self.values[bisect_left(self.values, (wanted,)) - 1][1]

    def state(self) -> tuple[int, int]:
        return len(self.chars), self.hash

    def back_to(self, state: tuple[int, int]) -> None:
        length, self.hash = state
        del self.chars[length:]

    def _without_last(self) -> int:
        gone = self.value[self.chars[-self.k]] * self.leaving if len(self.chars) >= self.k else 0
        return (self.hash * self.base - gone) & WORD


def repeated(text: str, length: int) -> str:
    return (text * (length // len(text) + 1))[:length]


def rising(k: int, length: int) -> str:
    """Return a text whose hashes rise as slowly as possible: every window loses its pick and must find another."""
    writer = Writer(k, IDEOGRAPHS)
    for _ in IDEOGRAPHS[:length]:
        writer.write(writer.next_above(writer.hash + 1))
    return repeated("".join(writer.chars), length)


def falling(k: int, length: int) -> str:
    """Return a text whose hashes fall, so that every k-gram is picked."""
    writer = Writer(k, IDEOGRAPHS)
    for _ in IDEOGRAPHS[:length]:
        writer.write(writer.next_below(writer.hash))
    return repeated("".join(writer.chars), length)


def waves(k: int, heights: Iterable[float], length: int) -> str:
    """Return a text whose hashes follow `heights`, from 0 to 1, again and again."""
    writer = Writer(k, IDEOGRAPHS)
    for height in islice(cycle(heights), min(len(IDEOGRAPHS), length)):
        writer.write(writer.next_above(int(height * WORD)))
    return repeated("".join(writer.chars), length)


def plateaus(w: int, length: int) -> str:
    """Return a text that alternates two windows of zeros and two windows of random letters."""
    random = Random(w)
    return repeated(
        "".join("0" * 2 * w + "".join(random.choices(LETTERS, k=2 * w)) for _ in range(200_000 // w)), length
    )


def ambush(k: int, w: int, period: int, length: int, effort: int = 5, gap: int = 4) -> str | None:
    """Return a text of plain letters that makes a routine change to a slower method, or None if `period` is too short.

    Each period begins with `effort` searches for each window that fits in, so that the routine gives up searching
    windows. Random letters follow, on which it uses the slower method until its block ends. The searches may fill at
    most half of the period. A search needs a low hash every few characters, a little above the one before, with no
    lower hash within w characters.
    """
    lows = effort * (period // w + 2)
    if lows * gap > period // 2:
        return None
    writer = Writer(k, LETTERS)
    ceiling = HASH_LIMIT * 5 // w  # about five hashes of a window are below it by chance
    for low in range(lows):
        bottom, top = ceiling * low // lows, ceiling * (low + 1) // lows
        state = writer.state()
        while not bottom <= writer.hash < top:
            writer.back_to(state)
            if all(writer.write_any() >= ceiling for _ in range(gap - 1)):
                writer.write(writer.next_above(bottom))
    spent, text = writer.state(), []
    for _ in range(max(1, min(200_000, length) // period)):  # enough to defeat branch prediction
        writer.back_to(spent)
        while len(writer.chars) < period:
            state = writer.state()
            if writer.write_any() < ceiling and state[0] < spent[0] + w:
                writer.back_to(state)
        text += writer.chars
    return repeated("".join(text), length)
