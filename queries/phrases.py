"""What is typed, as every store looks for it: in words as texts are taken apart into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.queries.words import Term, Words

# How many words, phrases and prefixes are looked for. Nobody types so many; and for two fields they are twice as many
# clauses, of which engines take 1,024.
MOST_WANTED, MOST_UNWANTED = 330, 150


@dataclass(frozen=True, slots=True)
class Phrase:
    """What stands together in title or text; and the beginning of another word, anywhere in title or text."""

    words: tuple[str, ...]  # folded; none where there is a prefix alone
    prefix: str = ""  # folded; empty where there is none
    typed: str = field(default="", compare=False)  # what the words were made of


class Phrases(NamedTuple):
    """A page has of each of the `wanted` alternatives at least one phrase, and none of the `unwanted` phrases."""

    wanted: list[list[Phrase]]
    unwanted: list[Phrase]


def phrases(words: Words) -> Phrases:
    """Without repetitions, and without what has no word in it. Where nothing wanted is left, no page answers."""
    wanted: list[list[Phrase]] = []
    room = MOST_WANTED
    for terms in words.wanted:
        found, left = _different(terms, room)
        if found and found not in wanted:
            wanted.append(found)
            room = left
    return Phrases(wanted, _different(words.unwanted, MOST_UNWANTED)[0])


def phrase(term: Term) -> Phrase:
    """What is no word in it only stands between words."""
    words, starts, _ = word_tokens(term.text)
    if term.prefix and words and _goes_on(words[-1]):
        return Phrase(tuple(words[:-1]), words[-1], term.text[: starts[-1]])
    return Phrase(tuple(words), typed=term.text)


def _goes_on(word: str) -> bool:
    """Whether other words start so: not in scripts without spaces, where each character is a word."""
    return len(word_tokens(word[-1] * 2)[0]) == 1


def _different(terms: Iterable[Term], room: int) -> tuple[list[Phrase], int]:
    """As many as there is room for, and the room that is left."""
    found: dict[Phrase, None] = {}
    for each in map(phrase, terms):
        needed = bool(each.words) + bool(each.prefix)
        if needed and needed <= room and each not in found:
            found[each] = None
            room -= needed
    return list(found), room
