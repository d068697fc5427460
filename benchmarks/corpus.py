"""The texts of the benchmarks.

They are real pages: the PostgreSQL manual in three versions if the folder WINNOW_DATA has it, otherwise the Javadoc of
Lucene in three releases, which is downloaded.
"""

from __future__ import annotations

import html
import os
import re
import tarfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from opensearch_winnow.cython_core.canonical_text import canonical_text
from tests.public_pages import LUCENE, javadoc

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(os.environ.get("WINNOW_DATA") or os.devnull)
MANUAL = DATA / "postgresql-doc-13-15-17" / "pages.tar.xz"
INVISIBLE = re.compile(r"<(script|style|head).*?</\1>|<[^>]*>", re.DOTALL)


def source() -> str:
    """Return a sentence on the texts, for the note below a table."""
    return "Texts: the PostgreSQL manual." if MANUAL.exists() else "Texts: the Javadoc of Lucene."


@cache
def pages(characters: int) -> list[str]:
    """Return the visible texts of pages until they have at least `characters` characters."""
    texts: list[str] = []
    for page in _manual() if MANUAL.exists() else _javadoc():
        text = html.unescape(INVISIBLE.sub(" ", page.decode("utf-8", "replace")))
        texts.append(text)
        characters -= len(text)
        if characters <= 0:
            break
    return texts


def _manual() -> Iterator[bytes]:
    while True:
        with tarfile.open(MANUAL) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.name.endswith(".html") else None
                if file:
                    yield file.read()


def _javadoc() -> Iterator[bytes]:
    while True:
        for page in javadoc(*LUCENE):
            assert isinstance(page.html, bytes)
            yield page.html


@cache
def text(characters: int) -> str:
    return "\n".join(pages(characters))[:characters]


@cache
def english(characters: int) -> str:
    """Return canonical text of one byte per character. Less than half of a text is spaces and punctuation."""
    return canonical_text(text(2 * characters)).chars.encode("ascii", "ignore").decode()[:characters]


# Imitations of other scripts: other code points, in the order and with the frequencies of a real language.


def cyrillic(chars: str) -> str:
    return chars.translate({ord("a") + i: 0x430 + i for i in range(26)})


def chinese(chars: str) -> str:
    """Replace each two letters by an ideograph, which gives about the length of a translation."""
    return "".join([chr(0x4E00 + ord(a) * 0x80 + ord(b)) for a, b in zip(chars[::2], chars[1::2], strict=False)])


def gothic(chars: str) -> str:
    """Replace letters by some beyond the Basic Multilingual Plane, which take four bytes each."""
    return chars.translate({ord("a") + i: 0x10330 + i for i in range(26)})
