"""Pairs of texts whose relationship is known, because the second was made from the first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from random import Random
from typing import NamedTuple

from opensearch_winnow.queries.relationship import Kind

MIN_WORDS = 600  # of a page: a part of several hundred words is then a part, and not the whole
PARAGRAPH_WORDS = 50  # at least; pages have many lines of one or two words
PART_WORDS = (200, 400)  # "several hundred words"
EDITED = 0.01  # share of the words that small edits replace
WORD = re.compile(r"\w+")


class RelatedTexts(NamedTuple):
    """Two texts, and what was done to A to make B."""

    kind: Kind
    a: str
    b: str


def related_texts(pages: Iterable[str], seed: str = "related") -> Iterator[RelatedTexts]:
    """Yield one pair of each kind for every long page. Another page lends the text that is not from A.

    A pair is left out if nothing came of the change, as when paragraphs were shuffled back into their places.
    """
    long_pages = [page for page in pages if len(words(page)) >= MIN_WORDS]
    Random(seed).shuffle(long_pages)
    for number, (other, page) in enumerate(pairwise(long_pages)):
        random = Random(f"{seed} {number}")
        for kind, make in MAKERS.items():
            made = make(page, other, random)
            if kind == "identical" or words(made) != words(page):
                yield RelatedTexts(kind, page, made)


def identical(page: str, _: str, random: Random) -> str:
    """Change capitals, spacing and punctuation at most."""
    return " – ".join(page.upper().splitlines()) if random.random() < 0.5 else page


def reorganised(page: str, other: str, random: Random) -> str:
    """Shuffle sections of one to four paragraphs, and edit some of them."""
    parts, size = paragraphs(page), random.randint(1, 4)
    sections = ["\n".join(parts[start : start + size]) for start in range(0, len(parts), size)]
    return maybe_edited("\n".join(random.sample(sections, len(sections))), other, random)


def revised(page: str, other: str, random: Random) -> str:
    """Replace a tenth to a half of the paragraphs, and edit the rest."""
    parts, new = paragraphs(page), paragraphs(other)
    for each in random.sample(range(len(parts)), round(len(parts) * random.uniform(0.1, 0.5))):
        parts[each] = random.choice(new)
    return edited("\n".join(parts), other, random)


def condensed(page: str, other: str, random: Random) -> str:
    """Keep a quarter to two thirds of the paragraphs."""
    parts = paragraphs(page)
    kept = sorted(random.sample(range(len(parts)), round(len(parts) * random.uniform(0.25, 0.67))))
    return maybe_edited("\n".join(parts[each] for each in kept), other, random)


def expanded(page: str, other: str, random: Random) -> str:
    """Insert paragraphs of the other page until the text is one and a half to three times as long."""
    parts, new = paragraphs(page), paragraphs(other)
    missing = len(words(page)) * random.uniform(0.5, 2)
    while missing > 0:
        inserted = random.choice(new)
        parts.insert(random.randint(0, len(parts)), inserted)
        missing -= len(words(inserted))
    return maybe_edited("\n".join(parts), other, random)


def includes_parts(page: str, other: str, random: Random) -> str:
    """Paste several hundred words of the page into the other one."""
    found = list(WORD.finditer(page))
    length = min(random.randint(*PART_WORDS), len(found) // 2)
    start = random.randint(0, len(found) - length)
    part = page[found[start].start() : found[start + length - 1].end()]
    host = paragraphs(other)
    host.insert(random.randint(0, len(host)), maybe_edited(part, other, random))
    return "\n".join(host)


def paragraphs(text: str) -> list[str]:
    """Split a text at its lines into parts of PARAGRAPH_WORDS or more."""
    parts: list[list[str]] = [[]]
    size = 0
    for line in text.splitlines():
        if size >= PARAGRAPH_WORDS:
            parts.append([])
            size = 0
        parts[-1].append(line)
        size += len(words(line))
    return ["\n".join(part) for part in parts]


def edited(text: str, other: str, random: Random) -> str:
    """Replace a few words with words of the other text."""
    new = words(other)
    return WORD.sub(lambda word: random.choice(new) if random.random() < EDITED else word[0], text)


def maybe_edited(text: str, other: str, random: Random) -> str:
    return edited(text, other, random) if random.random() < 0.5 else text


def words(text: str) -> list[str]:
    return WORD.findall(text)


MAKERS: dict[Kind, Callable[[str, str, Random], str]] = {
    "identical": identical,
    "small edits": edited,
    "reorganised": reorganised,
    "revised": revised,
    "condensed": condensed,
    "expanded": expanded,
    "includes parts": includes_parts,
    "nothing in common": lambda _page, other, _random: other,
}


def agrees(made: str, judged: Kind) -> bool:
    """Return whether the judgement is right. Different pages may share a template: they have little in common."""
    return judged == made or (made, judged) == ("nothing in common", "little in common")
