"""Texts made to slow winnowing down by somebody who knows the hash, which a scheme without a key lets everybody know.

The hash of a k-gram is a sum: what the characters before the last give, plus the number of the last. So whoever writes
a text chooses the hash of each next k-gram, as finely as there are letters to choose from.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import cycle, islice
from random import Random
from typing import TYPE_CHECKING

from opensearch_winnow.cython_core.reference import WORD, char_value, radix

if TYPE_CHECKING:
    from collections.abc import Iterable

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
IDEOGRAPHS = "".join(map(chr, range(0x4E00, 0x4E00 + 20_000)))
ALL = WORD + 1  # hashes are below this


class Writer:
    """Appends characters to a text by the hash that the k-gram they end will have."""

    def __init__(self, k: int, alphabet: str) -> None:
        self.k = k
        self.alphabet = alphabet
        self.values = sorted((char_value(char), char) for char in alphabet)
        self.value = {char: value for value, char in self.values}
        self.base = radix()
        self.leaving = pow(self.base, k, ALL)
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
        """The character that gives the smallest hash from this one on, or of all if there is none."""
        wanted = (hash_ - self._without_last()) & WORD
        return self.values[bisect_left(self.values, (wanted,)) % len(self.values)][1]

    def next_below(self, hash_: int) -> str:
        wanted = (hash_ - self._without_last()) & WORD
        return self.values[bisect_left(self.values, (wanted,)) - 1][1]

    def place(self) -> tuple[int, int]:
        return len(self.chars), self.hash

    def back_to(self, place: tuple[int, int]) -> None:
        length, self.hash = place
        del self.chars[length:]

    def _without_last(self) -> int:
        gone = self.value[self.chars[-self.k]] * self.leaving if len(self.chars) >= self.k else 0
        return (self.hash * self.base - gone) & WORD


def repeated(text: str, length: int) -> str:
    return (text * (length // len(text) + 1))[:length]


def rising(k: int, length: int) -> str:
    """Each hash is the smallest above the one before: every window loses its pick, and has to look for another."""
    writer = Writer(k, IDEOGRAPHS)
    for _ in IDEOGRAPHS[:length]:
        writer.write(writer.next_above(writer.hash + 1))
    return repeated("".join(writer.chars), length)


def falling(k: int, length: int) -> str:
    """Every k-gram is picked as it comes."""
    writer = Writer(k, IDEOGRAPHS)
    for _ in IDEOGRAPHS[:length]:
        writer.write(writer.next_below(writer.hash))
    return repeated("".join(writer.chars), length)


def waves(k: int, heights: Iterable[float], length: int) -> str:
    """Hashes that go through these heights, from 0 to 1, again and again."""
    writer = Writer(k, IDEOGRAPHS)
    for height in islice(cycle(heights), min(len(IDEOGRAPHS), length)):
        writer.write(writer.next_above(int(height * WORD)))
    return repeated("".join(writer.chars), length)


def plateaus(w: int, length: int) -> str:
    """Two windows of nothing but zeros, then two of anything."""
    random = Random(w)
    return repeated(
        "".join("0" * 2 * w + "".join(random.choices(LETTERS, k=2 * w)) for _ in range(200_000 // w)), length
    )


def ambush(k: int, w: int, period: int, length: int, effort: int = 5, gap: int = 4) -> str | None:
    """Plain letters. In each period first the searches that make a routine lose its patience with searching windows,
    `effort` for each window that fits in; then letters at random, for whatever slower thing it does from there to the
    end of its block. None if the searches alone would fill half the period.

    A search needs a low hash every few characters, a little above the one before and with none below it for w places.
    """
    lows = effort * (period // w + 2)
    if lows * gap > period // 2:
        return None
    writer = Writer(k, LETTERS)
    ceiling = ALL * 5 // w  # low: what some five hashes of a window are by chance
    for low in range(lows):
        bottom, top = ceiling * low // lows, ceiling * (low + 1) // lows
        place = writer.place()
        while not bottom <= writer.hash < top:
            writer.back_to(place)
            if all(writer.write_any() >= ceiling for _ in range(gap - 1)):
                writer.write(writer.next_above(bottom))
    spent, text = writer.place(), []
    for _ in range(max(1, min(200_000, length) // period)):  # enough that a processor does not learn it by heart
        writer.back_to(spent)
        while len(writer.chars) < period:
            place = writer.place()
            if writer.write_any() < ceiling and place[0] < spent[0] + w:
                writer.back_to(place)
        text += writer.chars
    return repeated("".join(text), length)
