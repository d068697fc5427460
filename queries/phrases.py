"""Turns typed terms into phrases of folded words, as every store looks them up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.queries.words import Term, Words

# Limits on words, phrases and prefixes. Each becomes two clauses, for title and text, and an engine takes 1,024.
MAX_WANTED, MAX_UNWANTED = 330, 150


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand together in the title or the text, and a prefix of a word anywhere in the title or the text."""

    words: tuple[str, ...]  # folded; empty if there is only a prefix
    prefix: str = ""  # folded; empty if there is none
    typed: str = field(default="", compare=False)  # the text that the words were made of


class Phrases(NamedTuple):
    """The requirements of a query: one phrase of each list in `wanted`, and none of the `unwanted` phrases."""

    wanted: list[list[Phrase]]
    unwanted: list[Phrase]


def phrases(words: Words) -> Phrases:
    """Return the phrases of the terms, without repeats and without terms that hold no word.

    If nothing wanted is left, no page is a hit.
    """
    wanted: list[list[Phrase]] = []
    room = MAX_WANTED
    for terms in words.wanted:
        alternatives, left = _distinct(terms, room)
        if alternatives and alternatives not in wanted:
            wanted.append(alternatives)
            room = left
    return Phrases(wanted, _distinct(words.unwanted, MAX_UNWANTED)[0])


def phrase(term: Term) -> Phrase:
    """Return the phrase of one term. Characters that are part of no word only separate words."""
    words, starts, _ = word_tokens(term.text)
    if term.prefix and words and _can_be_prefix(words[-1]):
        return Phrase(tuple(words[:-1]), words[-1], term.text[: starts[-1]])
    return Phrase(tuple(words), typed=term.text)


def _can_be_prefix(word: str) -> bool:
    """Return whether other words may start with this one.

    No word does in scripts without spaces, where each character is a word.
    """
    return len(word_tokens(word[-1] * 2)[0]) == 1


def _distinct(terms: Iterable[Term], room: int) -> tuple[list[Phrase], int]:
    """Return as many phrases as there is room for, without repeats, and the room that is left."""
    distinct: dict[Phrase, None] = {}
    for each in map(phrase, terms):
        needed = bool(each.words) + bool(each.prefix)
        if needed and needed <= room and each not in distinct:
            distinct[each] = None
            room -= needed
    return list(distinct), room
