"""Where the texts of the benchmarks come from.

Real pages, the PostgreSQL manual in three versions, where WINNOW_DATA or shared/data beside the checkout has them; else
the help texts that come with Python, shuffled and repeated.
"""

from __future__ import annotations

import html
import os
import re
import tarfile
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from opensearch_winnow.cython_core.canonical_text import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(os.environ.get("WINNOW_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
MANUAL = DATA / "postgresql-doc-13-15-17" / "pages.tar.xz"
NOT_SEEN = re.compile(r"<(script|style|head).*?</\1>|<[^>]*>", re.DOTALL)


def source() -> str:
    """One sentence for under a table."""
    return "Texts: the PostgreSQL manual." if MANUAL.exists() else "Texts: Python's help topics, shuffled and repeated."


@cache
def pages(characters: int) -> list[str]:
    """Texts of pages, roughly as a reader sees them, with so many characters in all or a page more."""
    texts: list[str] = []
    for text in _manual() if MANUAL.exists() else _topics():
        texts.append(text)
        characters -= len(text)
        if characters <= 0:
            break
    return texts


def _manual() -> Iterator[str]:
    while True:
        with tarfile.open(MANUAL) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.name.endswith(".html") else None
                if file:
                    yield html.unescape(NOT_SEEN.sub(" ", file.read().decode("utf-8", "replace")))


def _topics() -> Iterator[str]:
    from pydoc_data.topics import topics  # noqa: PLC0415  # 700 kB, for who has no manual

    paragraphs = "\n\n".join(topics.values()).split("\n\n")
    for seed in count():
        Random(seed).shuffle(paragraphs)
        for start in range(0, len(paragraphs), 40):
            yield "\n\n".join(paragraphs[start : start + 40])


@cache
def text(characters: int) -> str:
    return "\n".join(pages(characters))[:characters]


@cache
def english(characters: int) -> str:
    """Canonical text, one byte a character. About a quarter of a text is spaces and punctuation, never half."""
    return canonical_text(text(2 * characters)).chars.encode("ascii", "ignore").decode()[:characters]


# Other scripts as far as the core can tell: other numbers, in the order and with the frequencies of a real language.


def cyrillic(chars: str) -> str:
    return chars.translate({ord("a") + i: 0x430 + i for i in range(26)})


def chinese(chars: str) -> str:
    """An ideograph for two letters: about as many characters as a translation has."""
    return "".join([chr(0x4E00 + ord(a) * 0x80 + ord(b)) for a, b in zip(chars[::2], chars[1::2], strict=False)])


def gothic(chars: str) -> str:
    """Beyond the Basic Multilingual Plane, four bytes a character."""
    return chars.translate({ord("a") + i: 0x10330 + i for i in range(26)})
