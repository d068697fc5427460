"""Writes cython_core/unicode_tables.h: how canonical text treats each character of Unicode 18.0.

Run by hand (`make unicode-tables`) when the rule or the version of Unicode changes, together with `NORMALISATION`. The
data comes from the packages unicodedata2 (categories, normalisation) and regex (case folding, the other properties),
not from Python's own unicodedata, because hashes must be equal on every version of Python. Every character has two
records: one as it is, and one for schemes in which letters that look alike are one (tools/confusables.py).
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import regex
import unicodedata2 as ucd
from regex import _regex

from tools.confusables import Looks, is_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

HEADER = Path(__file__).parent.parent / "cython_core" / "unicode_tables.h"
UNICODE = "18.0.0"
CHARACTERS = [chr(code) for code in range(0x110000)]
FULL_FOLDING = int(regex.FULLCASE | regex.IGNORECASE | regex.UNICODE)
IOTA = "\u0345"  # the combining iota: a mark that case folding turns into a letter

# The bits of a record. A character without any is ignorable: it vanishes.
ALNUM = 1  # a letter or number
OWN_WORD = 2  # a letter that is a word by itself, as an ideograph
SEPARATOR = 4  # dropped, and a word ends here
VOWEL = 8  # its base is one of a e i o u
MARK = 16  # a combining mark
COMPOSES = 32  # may compose with the character before it, though it has no combining class: jamo, vowel signs
EXPANDS = 64  # `value` is an index in expansions, not the distance to the mapped character

PAGE_BITS = 7  # pages of 128 characters make the smallest header
PAGE = 1 << PAGE_BITS
SLOT_BITS = 11  # 2048 slots in the hash table of compositions leave half of them empty
SLOTS = 1 << SLOT_BITS
HASH_FIRST, HASH_SECOND = 0x9E3779B1, 0x85EBCA77  # odd, without a pattern: few collisions


def matching(pattern: str) -> frozenset[str]:
    """Return the characters that match `pattern`."""
    return frozenset(regex.findall(pattern, "".join(CHARACTERS)))


IGNORABLE = matching(r"\p{Default_Ignorable_Code_Point}")
# Letters of scripts without spaces: a line may break beside them. Digits form numbers in every script.
UNSPACED = matching(r"(?!\p{Nd})[\p{LB=ID}\p{LB=CJ}\p{LB=NS}\p{LB=SA}\p{LB=AK}\p{LB=AP}\p{LB=AS}\p{Ideographic}]")


def is_mark(char: str) -> bool:
    return bool(ucd.category(char)[0] == "M")


@cache
def casefold(char: str) -> str:
    if char == "I":
        return "i"  # regex leaves this one to the locale
    return char if char == IOTA else _regex.fold_case(FULL_FOLDING, char)


@cache
def fold(char: str) -> str:
    """Return the folded character, decomposed. A combining iota stays a mark until marks are in canonical order."""
    before, after = "", char
    while before != after:
        before = after
        after = ucd.normalize("NFKD", "".join(map(casefold, ucd.normalize("NFKD", before))))
    return after


def compositions() -> list[tuple[str, str, str]]:
    """Return (composite, first, second) of each composite in canonical text; Hangul syllables are computed instead."""
    triples = []
    for char in CHARACTERS:
        parts = ucd.decomposition(char).split()
        if len(parts) == 2 and parts[0][0] != "<":
            first, second = (chr(int(part, 16)) for part in parts)
            decomposed = ucd.normalize("NFD", char)
            if ucd.normalize("NFC", decomposed) == char and fold(char) == decomposed and IOTA not in decomposed:
                triples.append((char, first, second))
    return triples


@cache
def looks() -> dict[str, str]:
    """Return what stands for each letter that looks like others.

    Letters that compose with letters stay as they are: the jamo of Hangul, and Kirat Rai.
    """
    composing = set(map(chr, range(0x1100, 0x1200))).union(*(each for each in compositions() if is_kept(each[2])))
    left_out = IGNORABLE | composing
    letters = (char for char in CHARACTERS if is_kept(char) and char not in left_out and fold(char) == char)
    return {letter: look for letter, look in Looks(fold, letters).of.items() if look != letter}


class Tables:
    """The tables of the header: pages of records, expansions, and compositions."""

    def __init__(self) -> None:
        self.compositions = compositions()
        vowel_and_final_jamo = map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)))
        self.seconds = {second for _, _, second in self.compositions}.union(vowel_and_final_jamo)
        self.expansions: list[int] = []
        self.index_of: dict[str, int] = {}
        self.looks = looks()
        records = [self.record(char, fold) for char in CHARACTERS]
        records += [self.record(char, self.fold_alike) for char in CHARACTERS]
        pages = [tuple(records[start : start + PAGE]) for start in range(0, len(records), PAGE)]
        # The most common first, so that most numbers in the header are short.
        self.pages = [page for page, _ in Counter(pages).most_common()]
        self.records = [record for record, _ in Counter(chain.from_iterable(self.pages)).most_common()]
        self.page_of = numbers(pages, self.pages)
        self.record_of = numbers(chain.from_iterable(self.pages), self.records)

    def fold_alike(self, char: str) -> str:
        return "".join(self.looks.get(part, part) for part in fold(char))

    def record(self, char: str, fold: Callable[[str], str]) -> tuple[int, int, int, int]:
        """Return (value, bits, combining class of the first part, that of the last) of a character.

        A mark that follows is ordered relative to the last class.
        """
        if char in IGNORABLE:
            return 0, 0, 0, 0
        if ucd.category(char) in {"Cc", "Cs", "Co", "Cn"}:
            return 0, SEPARATOR, 0, 0
        parts = fold(char)
        if not any(is_kept(part) or is_mark(part) for part in parts):
            return 0, SEPARATOR, 0, 0
        if not is_kept(parts[0]) and not is_mark(parts[0]) and all(map(is_mark, parts[1:])) and IOTA not in parts:
            return 0, SEPARATOR, 0, 0  # a spacing accent: its base, the space, is dropped
        whole = ucd.normalize("NFC", parts)
        if len(whole) > 1 or (len(parts) > 1 and (parts[0] in self.seconds or IOTA in parts)):
            return self.expansion_index(parts), EXPANDS, 0, 0
        bits = MARK if is_mark(whole) else ALNUM
        if bits == ALNUM and parts[0] in UNSPACED:
            bits |= OWN_WORD
        if parts[0] in "aeiou":
            bits |= VOWEL
        if parts in self.seconds and not ucd.combining(parts):
            bits |= COMPOSES
        return ord(whole) - ord(char), bits, ucd.combining(parts[0]), ucd.combining(parts[-1])

    def expansion_index(self, parts: str) -> int:
        """Return the index in expansions of the number of `parts`, which they follow; dropped ones become one space."""
        parts = regex.sub(r"[^\p{L}\p{N}\p{M}]+", " ", parts)
        if parts not in self.index_of:
            self.index_of[parts] = len(self.expansions)
            self.expansions += [len(parts), *map(ord, parts)]
        return self.index_of[parts]


def numbers(items: Iterable[Hashable], catalogue: Iterable[Hashable]) -> list[int]:
    """Return the index in `catalogue` of each item."""
    number = {item: i for i, item in enumerate(catalogue)}
    return [number[item] for item in items]


def slots(triples: list[tuple[str, str, str]]) -> list[int]:
    """Return a hash table from (first, second) to the index of the composition plus 1; 0 is an empty slot."""
    table = [0] * SLOTS
    for number, (_, first, second) in enumerate(triples, 1):
        slot = (ord(first) * HASH_FIRST + ord(second) * HASH_SECOND) % 2**32 >> (32 - SLOT_BITS)
        while table[slot]:
            slot = (slot + 1) % SLOTS
        table[slot] = number
    return table


def constants(**values: int) -> str:
    return "enum { " + ", ".join(f"{name} = {value}" for name, value in values.items()) + " };"


def array(declaration: str, cells: Iterable[object]) -> str:
    text = ",".join(str(cell).replace(" ", "") for cell in cells)
    return f"static const {declaration}[] = {{\n{fill(text)}\n}};\n"


def fill(text: str) -> str:
    """Break the text after commas into lines of at most 120 columns."""
    return str(regex.sub(r"(.{1,119},)(?=.)", r"\1\n", text))


def header() -> str:
    """Return the text of the header."""
    assert ucd.unidata_version == UNICODE
    tables = Tables()
    return "\n".join(
        [
            f"/* Generated by tools/unicode_tables.py from Unicode {UNICODE}. Do not edit. */",
            "#include <stdint.h>",
            "",
            "typedef struct { int32_t value; uint8_t bits, first_class, last_class; } unicode_record;",
            "typedef struct { uint32_t composite, first, second; } unicode_composition;",
            "",
            constants(
                ALNUM=ALNUM,
                OWN_WORD=OWN_WORD,
                SEPARATOR=SEPARATOR,
                VOWEL=VOWEL,
                MARK=MARK,
                COMPOSES=COMPOSES,
                EXPANDS=EXPANDS,
            ),
            constants(PAGE_BITS=PAGE_BITS, MAX_EXPANSION=max(map(len, tables.index_of))),
            constants(FOLDED_PAGES=len(CHARACTERS) // PAGE, FOLDED_IOTA=ord(tables.looks["ι"])),
            constants(SLOTS=SLOTS, SLOT_BITS=SLOT_BITS, COMPOSITIONS=len(tables.compositions)),
            f"#define HASH_FIRST {HASH_FIRST}u",
            f"#define HASH_SECOND {HASH_SECOND}u",
            "",
            array("uint16_t unicode_page_of", tables.page_of),
            array("uint16_t unicode_record_of", tables.record_of),
            array("unicode_record unicode_records", map(initialiser, tables.records)),
            array("uint32_t unicode_expansions", tables.expansions),
            array("unicode_composition unicode_compositions", (initialiser(map(ord, c)) for c in tables.compositions)),
            array("uint16_t unicode_slots", slots(tables.compositions)),
        ]
    )


def initialiser(values: Iterable[int]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


if __name__ == "__main__":
    HEADER.write_text(header(), encoding="ascii")
