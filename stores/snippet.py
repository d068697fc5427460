"""The place of a text that shows why a page was found."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

LENGTH = 200  # characters: two lines of a terminal
BEFORE = 40  # of them that stand before the first word
PLACES = 200  # of a word that are looked at
LONGEST = 1_000_000  # characters of a text that are looked at
NEAR = 20  # characters, within which an end of the snippet moves to a space
WORD = re.compile(r"[^\W_]+")


def snippet(text: str, words: Sequence[str]) -> str:
    """About LENGTH characters in one line, around the densest place of the words; the start if there is none."""
    text = text[:LONGEST]
    start = max(_densest(text, words) - BEFORE, 0)
    end = start + LENGTH
    if end >= len(text):
        start, end = max(len(text) - LENGTH, 0), len(text)
    if start and (space := text.find(" ", start, start + NEAR)) >= 0:  # no half words, where a space is near
        start = space + 1
    if end < len(text) and (space := text.rfind(" ", end - NEAR, end)) > start:
        end = space
    shown = " ".join(text[start:end].split())
    return f"{'… ' if start else ''}{shown}{' …' if end < len(text) else ''}"


def _densest(text: str, words: Sequence[str]) -> int:
    """Where the most different words follow within a snippet; of such places the first."""
    folded = _folded(text)
    places = sorted((start, number) for number, word in enumerate(words) for start in _places(folded, _folded(word)))
    starts = [start for start, _ in places]
    best, most = 0, 0
    for index, start in enumerate(starts):
        after = places[index : bisect_right(starts, start + LENGTH - 2 * BEFORE)]
        different = len({number for _, number in after})
        if different > most:
            best, most = start, different
    return best


def _places(text: str, word: str) -> list[int]:
    """Where the word, or phrase, is: as whole words, or else anywhere, as in scripts without spaces."""
    parts = WORD.findall(word)
    if not parts:
        return []
    phrase = re.compile(r"[\W_]+".join(map(re.escape, parts)))
    anywhere: list[int] = []
    whole: list[int] = []
    # The first word by find(), which is many times as quick as any expression.
    start = text.find(parts[0])
    while start >= 0 and len(anywhere) < PLACES:
        match = phrase.match(text, start)
        if match:
            anywhere.append(start)
            if not (_is_word(text[start - 1 : start]) or _is_word(text[match.end() : match.end() + 1])):
                whole.append(start)
        start = text.find(parts[0], start + 1)
    return whole or anywhere


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _folded(text: str) -> str:
    """In lower case and without accents, character by character: places stay."""
    if text.isascii():
        return text.lower()
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(each.lower()[0] for each in text)
    for each in set(lower):
        apart = unicodedata.normalize("NFD", each)
        if len(apart) > 1 and all(map(unicodedata.combining, apart[1:])):
            lower = lower.replace(each, apart[0])
    return lower
