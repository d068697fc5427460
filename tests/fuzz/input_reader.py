"""Turns the bytes that a fuzzer invents into the arguments of a function: the same bytes always give the same ones."""

from __future__ import annotations

from array import array
from typing import Final

EDGES: Final = (0, 1, -1, 2**31, 2**32 - 1, 2**32, 2**61, 2**62, 2**63 - 1, -(2**63))
CODECS: Final = ("latin-1", "utf-8", "utf-16-le", "ascii")


class Reader:
    """Reads arguments from `data`, from its start on; where it has ended, numbers are 0 and texts are empty."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def size(self) -> int:
        """Return a small number, or one near the limits of integers."""
        byte = self.byte()
        return byte if byte < 240 else EDGES[byte % len(EDGES)]

    def key(self) -> int:
        """Return the key of a hash: mostly 0."""
        byte = self.byte()
        return 0 if byte < 192 else byte * 0x0101010101010101

    def take(self) -> bytes:
        """Return as many bytes as the next byte says."""
        length = self.byte()
        self.at += length
        return self.data[self.at - length : self.at]

    def rest(self) -> bytes:
        rest = self.data[self.at :]
        self.at = len(self.data)
        return rest

    def text(self) -> str:
        """Return as much text as the next byte says, in a coding that the one after it chooses."""
        codec = CODECS[self.byte() & 3]
        return decoded(self.take(), codec)

    def rest_text(self) -> str:
        codec = CODECS[self.byte() & 3]
        return decoded(self.rest(), codec)

    def hashes(self) -> array[int]:
        """Return an array of 64-bit integers: a byte each, so that they often meet, or eight bytes."""
        wide = self.byte() & 1
        data = self.take()
        return array("Q", data[: len(data) & ~7]) if wide else array("Q", list(data))

    def numbers(self) -> array[int]:
        """Return an array of 32-bit integers, a byte each or four."""
        wide = self.byte() & 1
        data = self.take()
        return array("I", data[: len(data) & ~3]) if wide else array("I", list(data))


def decoded(data: bytes, codec: str) -> str:
    """Decode any bytes. UTF-16 gives lone surrogates too, and UTF-8 characters beyond U+FFFF."""
    if codec == "utf-16-le":
        return data[: len(data) & ~1].decode(codec, "surrogatepass")
    if codec == "ascii":
        return bytes(byte & 127 for byte in data).decode(codec)
    return data.decode(codec, "surrogateescape")
