"""The texts of the benchmarks.

They are real pages: the PostgreSQL manual in three versions if the folder WINNOW_DATA has it, otherwise the Javadoc of
Lucene in three releases, which is downloaded.
"""

from __future__ import annotations

import html
import os
import re
import tarfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

from opensearch_winnow.cython_core.canonical_text import canonical_text
from tests.public_pages import LUCENE, javadoc

DATA = Path(os.environ.get("WINNOW_DATA") or os.devnull)
MANUAL = "postgresql-doc-13-15-17"
INVISIBLE = re.compile(r"<(script|style|head).*?</\1>|<[^>]*>", re.DOTALL)


def source() -> str:
    """Return a sentence on the texts, for the note below a table."""
    return "Texts: the PostgreSQL manual." if (DATA / MANUAL).is_dir() else "Texts: the Javadoc of Lucene."


def packed(name: str) -> Iterator[bytes]:
    """Yield the HTML pages of a set in WINNOW_DATA."""
    (archive,) = (DATA / name).glob("*.tar.xz")
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith(".html") else None
            if file:
                yield file.read()


def visible_text(page: bytes) -> str:
    return html.unescape(INVISIBLE.sub(" ", page.decode("utf-8", "replace")))


@cache
def pages(characters: int) -> list[str]:
    """Return the visible texts of pages until they have at least `characters` characters."""
    texts: list[str] = []
    while characters > 0:
        for page in packed(MANUAL) if (DATA / MANUAL).is_dir() else _javadoc():
            texts.append(visible_text(page))
            characters -= len(texts[-1])
            if characters <= 0:
                break
    return texts


def _javadoc() -> Iterator[bytes]:
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


def two_words(texts: Sequence[str], count: int) -> list[str]:
    """Return queries, each of two consecutive words of a text."""
    random = Random(7)
    made: list[str] = []
    while len(made) < count:
        words = [word for word in random.choice(texts).split() if word.isalpha()]
        if words:
            start = random.randrange(max(len(words) - 1, 1))
            made.append(" ".join(words[start : start + 2]))
    return made
