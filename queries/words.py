"""What somebody types to search for."""

from __future__ import annotations

import re
from dataclasses import dataclass

PART = re.compile(r'(-?)(?:"([^"]*)"?|(\S+))')


@dataclass(frozen=True, slots=True)
class Words:
    """Words and "quoted phrases", each a string; a page has all of the wanted ones and none of the others."""

    wanted: tuple[str, ...]
    unwanted: tuple[str, ...] = ()

    @classmethod
    def of(cls, typed: str) -> Words:
        """`apple "fruit tree" -pear`: quotes make a phrase, and a minus in front says what a page must not have."""
        parts: tuple[list[str], list[str]] = ([], [])
        for minus, phrase, word in PART.findall(typed):
            if (phrase or word).strip():
                parts[bool(minus)].append(phrase or word)
        return cls(tuple(parts[0]), tuple(parts[1]))
