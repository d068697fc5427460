"""What somebody may do to a copied text so that it is not found. Each attack has a strength."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from random import Random

import unicodedata2 as ucd

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.fingerprint import fingerprint
from tools.confusables import prototypes

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"


@dataclass(frozen=True, slots=True)
class Material:
    """What attackers have: the words of the store's pages, and a template that is on many pages of their own site."""

    words: Sequence[str]
    template: Sequence[str]

    def random_words(self, count: int, random: Random) -> list[str]:
        return random.choices(self.words, k=count)


Apply = Callable[[str, float, Random, Material], dict[str, str]]  # {"text": …} or {"html": …}, to ask with


@dataclass(frozen=True, slots=True)
class Attack:
    name: str
    title: str
    strength: str  # what the numbers count
    strengths: tuple[float, ...]
    apply: Apply
    schemes: tuple[str, ...] = ("pages", "passages", "consonants", "koala")  # those that make a difference
    options: dict[str, float] = field(default_factory=lambda: {"min_containment": 0.0})  # of the question


def replaced_words(text: str, every: float, random: Random, material: Material) -> dict[str, str]:
    parts = re.split(r"(\w+)", text)  # every second part is a word
    for i in range(1 + 2 * random.randrange(int(every)), len(parts), 2 * int(every)):
        (parts[i],) = material.random_words(1, random)
    return {"text": "".join(parts)}


def replaced_letters(text: str, every: float, random: Random, _: Material) -> dict[str, str]:
    return {
        "text": _with_letters(text, _letters(text)[random.randrange(int(every)) :: int(every)], _other_letter, random)
    }


def letters_at_fingerprints(text: str, share: float, random: Random, _: Material) -> dict[str, str]:
    """Replace a letter in a share of the k-grams that the default scheme picks without a key."""
    spans = fingerprint(text, Scheme()).spans
    middles = {next(i for i in range((start + end) // 2, end) if text[i].isalnum()) for start, end in spans}
    chosen = random.sample(sorted(middles), round(share * len(middles)))
    return {"text": _with_letters(text, chosen, _other_letter, random)}


def homoglyphs(text: str, every: float, random: Random, _: Material) -> dict[str, str]:
    offsets = [i for i in _letters(text) if text[i] in _homoglyphs()]
    chosen = offsets[random.randrange(int(every)) :: int(every)]
    return {"text": _with_letters(text, chosen, lambda char, random: random.choice(_homoglyphs()[char]), random)}


def zero_width(text: str, every: float, random: Random, _: Material) -> dict[str, str]:
    step = int(every)
    return {"text": "".join(text[i : i + step] + random.choice(ZERO_WIDTH) for i in range(0, len(text), step))}


def reordered(text: str, words: float, random: Random, _: Material) -> dict[str, str]:
    all_words = text.split()
    blocks = [" ".join(all_words[i : i + int(words)]) for i in range(0, len(all_words), int(words))]
    random.shuffle(blocks)
    return {"text": "\n\n".join(blocks)}


def hidden_words(text: str, every: float, random: Random, material: Material) -> dict[str, str]:
    """Put a word that no reader sees after every few words."""
    words = text.split()
    step = int(every)
    parts = []
    for i in range(0, len(words), step):
        (hidden,) = material.random_words(1, random)
        parts.append(f'{escape(" ".join(words[i : i + step]))} <span style="display: none">{escape(hidden)}</span> ')
    return {"html": f"<!doctype html><meta charset=utf-8><p>{''.join(parts)}</p>"}


def padding(text: str, times: float, random: Random, material: Material) -> dict[str, str]:
    around = material.random_words(int(times * len(text.split())), random)
    return {"text": _inside(text, around)}


def template(text: str, times: float, _: Random, material: Material) -> dict[str, str]:
    return {"text": _inside(text, material.template[: int(times * len(text.split()))])}


ATTACKS = (
    Attack("words", "Other words", "one word in", (5, 10, 20, 40), replaced_words),
    Attack("letters", "Other letters", "one letter in", (10, 25, 50, 100), replaced_letters),
    Attack(
        "fingerprints",
        "Other letters where the scheme is known to pick",
        "share of the fingerprints",
        (0.5, 0.9, 1.0),
        letters_at_fingerprints,
        ("pages", "keyed", "passages"),
    ),
    Attack(
        "homoglyphs",
        "Letters that look alike",
        "one letter in",
        (1, 10, 25, 50),
        homoglyphs,
        ("pages", "folded", "passages", "consonants", "koala"),
    ),
    Attack("zero-width", "Characters of no width", "characters between two", (1, 10), zero_width),
    Attack("order", "Another order", "words that stay together", (3, 5, 10, 20), reordered),
    Attack("hidden", "Hidden words", "words between two", (3, 5, 10, 20), hidden_words),
    Attack("padding", "Random words around the copy", "times the length of the copy", (3, 30), padding),
    Attack("template", "The template of another site around the copy", "times its length", (1, 4), template),
    Attack(
        "template",
        "The same, with `min_contained=0.5`",
        "times its length",
        (1, 4),
        template,
        options={"min_contained": 0.5},
    ),
)


def _letters(text: str) -> list[int]:
    return [i for i, char in enumerate(text) if char.isascii() and char.isalpha()]


def _with_letters(text: str, offsets: Sequence[int], other: Callable[[str, Random], str], random: Random) -> str:
    chars = list(text)
    for i in offsets:
        chars[i] = other(chars[i], random)
    return "".join(chars)


def _other_letter(char: str, random: Random) -> str:
    return random.choice(LETTERS.replace(char.lower(), ""))


@cache
def _homoglyphs() -> dict[str, list[str]]:
    """Return the letters of other scripts that look like each ASCII letter, by the table of Unicode."""
    table = prototypes()
    found = defaultdict(list)
    for char, prototype in table.items():
        if not char.isascii() and ucd.category(char)[0] == "L" and ucd.normalize("NFKD", char) == char:
            found[prototype].append(char)
    return {
        letter: found[table.get(letter, letter)]
        for letter in LETTERS + LETTERS.upper()
        if found[table.get(letter, letter)]
    }


def _inside(text: str, around: Sequence[str]) -> str:
    half = len(around) // 2
    return " ".join([*around[:half], "\n\n", text, "\n\n", *around[half:]])
