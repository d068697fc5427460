"""Reads which letters look alike (UTS #39) and decides which of them stands for all, for schemes that fold them.

tools/confusables.txt has the confusables of Unicode 18.0.0. Each line has the prototype of a group and the characters
that look like it. It was written from the table of the crate unicode-security 0.1.3, which was made from Unicode's
confusables.txt. To write it again: python -m tools.confusables unicode-security-0.1.3.crate
"""

from __future__ import annotations

import hashlib
import re
import sys
import tarfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import unicodedata2 as ucd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LIST = Path(__file__).with_suffix(".txt")
CRATE = "unicode-security-0.1.3"
SHA256 = "4a23f3d0a5f302dbfdc8c5303c943c325e67cb478611bf1f44fb4c1520c64eb7"
LICENCE = "Made from data of Unicode 18.0.0, copyright Unicode, Inc., under the licence Unicode-3.0"


def prototypes() -> dict[str, str]:
    """Return the prototype of each character that has one."""
    lines = (line.split(":") for line in LIST.read_text(encoding="ascii").splitlines() if line[0] != "#")
    return {char: from_hex(prototype) for prototype, chars in lines for char in from_hex(chars)}


def from_hex(codes: str) -> str:
    return "".join(chr(int(code, 16)) for code in codes.split())


class Looks:
    """Letters that look alike, after case folding, and what stands for them in canonical text.

    `fold` is the folding of canonical text. `letters` are the folded letters and numbers that may be replaced.
    """

    def __init__(self, fold: Callable[[str], str], letters: Iterable[str]) -> None:
        self.fold = fold
        # The prototype of m is rn, which would make every m count twice (docs/decisions/0003-canonical-text.md).
        self.prototypes = {char: prototype.replace("rn", "m") for char, prototype in prototypes().items()}
        groups = defaultdict(list)
        for letter in letters:
            groups[self.look(letter)].append(letter)
        # Where a look has marks or punctuation, the first letter of the group stands for the others.
        self.of = {
            letter: look if all(map(is_kept, look)) else group[0] for look, group in groups.items() for letter in group
        }
        capitals = self.looks_of_capitals()
        for letter, look in self.of.items():
            self.of[letter] = "".join(capitals.get(part, part) for part in look)

    @cache  # noqa: B019 (one object, in a tool)
    def look(self, char: str) -> str:
        """Return the skeleton of UTS #39, case-folded, until nothing changes."""
        before, after = "", char
        while before != after:
            before = after
            skeleton = ucd.normalize("NFD", "".join(self.prototypes.get(part, part) for part in before))
            if "ß" in skeleton:  # the prototype of β, which does not look like ss
                return before
            after = "".join(map(self.fold, skeleton))
        return after

    def looks_of_capitals(self) -> dict[str, str]:
        """Return the ASCII look of capitals for looks that are not ASCII: в looks like no Latin letter, but В like B.

        A small letter that looks like an ASCII letter keeps that look, whatever its capital looks like: ν is v, and so
        is Ν. Otherwise n and v would be one. The exception is i, because the capital I is one with l in most fonts.
        """
        found = defaultdict(set)
        for capital in map(chr, range(0x110000)):
            small = self.fold(capital)
            if small != capital and small in self.of and not self.of[small].isascii():
                look = "".join(map(self.look, self.prototypes.get(capital, capital)))
                if look.isascii() and look.isalnum():
                    found[self.of[small]].add(look)
        return {"i": "l"} | {look: max(looks) for look, looks in found.items()}  # a letter rather than a digit


def is_kept(char: str) -> bool:
    return bool(ucd.category(char)[0] in "LN")


def write_list(crate: Path) -> None:
    """Write confusables.txt from the crate."""
    content = crate.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{crate} is not {CRATE}.crate: its SHA-256 is not {SHA256}")
    with tarfile.open(crate) as archive:
        source = archive.extractfile(f"{CRATE}/src/tables.rs")
        assert source
        code = source.read().decode()
    table = code.partition("const CONFUSABLES")[2].partition("];\n")[0]
    groups = defaultdict(list)
    for row in re.finditer(r"\('\\u\{(\w+)\}',\s*&\[([^\]]*)\]\)", table):
        prototype = [int(code, 16) for code in re.findall(r"\\u\{(\w+)\}", row[2])]
        groups[" ".join(f"{code:X}" for code in prototype)].append(f"{int(row[1], 16):X}")
    lines = [f"# Confusables of UTS #39, written by tools/confusables.py. {LICENCE}."]
    lines += [f"{prototype}: {' '.join(chars)}" for prototype, chars in groups.items()]
    LIST.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    write_list(Path(sys.argv[1]))
