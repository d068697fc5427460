"""The place of a text that shows why a page was found, with the words marked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from opensearch_winnow.cython_core.phrase_offsets import phrase_offsets
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.store import Hit

LENGTH = 200  # characters: two lines of a terminal
BEFORE = 40  # of them that stand before the first word
PLACES = 200  # of a word that are looked at
LONGEST = 1_000_000  # characters of a text that are looked at
NEAR = 20  # characters, within which an end of the snippet moves to one of a word
SPACE = re.compile(r"\s")

Mark = tuple[int, int]  # start and end, in code points
Place = tuple[int, int, int]  # and which of the phrases it is


class Snippet(NamedTuple):
    text: str
    marks: list[Mark]  # in this text: in order, and apart


def hit_of(card: Card, score: float, text: str, words: Words) -> Hit:
    """A page as it is shown: this is its text."""
    shown = snippet(text, words)
    return Hit(card, score, shown.text, shown.marks, marks(card.title or "", words))


def snippet(text: str, words: Words) -> Snippet:
    """About LENGTH characters in one line, around the densest place of the words; the start if there is none."""
    text = text[:LONGEST]
    places = _places(text, words)
    start = max(_densest(places) - BEFORE, 0)
    end = start + LENGTH
    if end >= len(text):
        start, end = max(len(text) - LENGTH, 0), len(text)
    start, end = _start_of_word(text, start), _end_of_word(text, end)
    before, after = "… " if start else "", " …" if end < len(text) else ""

    def shown(until: int) -> str:
        return before + " ".join(text[start:until].split())

    marked = _apart(place for place in places if start <= place[0] and place[1] <= end)
    return Snippet(
        shown(end) + after,
        # Up to the first character of a mark and without it; else spaces before it would be missing.
        [(len(shown(first + 1)) - 1, len(shown(last))) for first, last in marked],
    )


def _start_of_word(text: str, place: int) -> int:
    """The next one, or the last before it; the place itself, where none is near."""
    starts = [space.end() for space in SPACE.finditer(text, max(place - NEAR, 0), place + NEAR)]
    if place <= NEAR:
        starts.insert(0, 0)
    return next((start for start in starts if start >= place), starts[-1] if starts else place)


def _end_of_word(text: str, place: int) -> int:
    """The last one before it, or the next; the place itself, where none is near."""
    ends = [space.start() for space in SPACE.finditer(text, max(place - NEAR, 0), place + NEAR)]
    if place >= len(text) - NEAR:
        ends.append(len(text))
    return next((end for end in reversed(ends) if end <= place), ends[0] if ends else place)


def marks(text: str, words: Words) -> list[Mark]:
    """Where the words are in all of a text, as in a title: in order, and apart."""
    return _apart(_places(text[:LONGEST], words))


def _places(text: str, words: Words) -> list[Place]:
    return phrase_offsets(text, _wanted(words), max_per_phrase=PLACES)


@lru_cache(maxsize=8)  # the hits of a search have the same words
def _wanted(words: Words) -> list[tuple[tuple[str, ...], bool]]:
    """Phrases, and words of which there is only the beginning, each by itself."""
    wanted = [phrase for alternatives in phrases(words).wanted for phrase in alternatives]
    whole = {phrase.words: False for phrase in wanted if phrase.words}
    return [*whole.items(), *{(phrase.prefix,): True for phrase in wanted if phrase.prefix}.items()]


def _densest(places: list[Place]) -> int:
    """Where the most different words follow within a snippet; of such places the first."""
    starts = [start for start, _, _ in places]
    all_of_them = len({which for _, _, which in places})
    best, most = 0, 0
    for index, start in enumerate(starts):
        after = places[index : bisect_right(starts, start + LENGTH - 2 * BEFORE)]
        different = len({which for _, _, which in after})
        if different > most:
            best, most = start, different
        if most == all_of_them:
            break
    return best


def _apart(places: Iterable[Place]) -> list[Mark]:
    """The first of those that overlap; of those with one start the longest."""
    found: list[Mark] = []
    for start, end in sorted(((start, end) for start, end, _ in places), key=lambda mark: (mark[0], -mark[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found
