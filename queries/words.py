"""Parses the words typed into a search box."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

# The weights of a word in the title and in the text. Every store uses them, so that their scores are equal.
TITLE_WEIGHT, TEXT_WEIGHT = 4.0, 1.0

PART = re.compile(r'(-?)(?:"([^"]*)"?|(\S+))')
END = ("-", "", "")  # after the last part; like an unwanted one, it is nothing that OR can join


class Term(NamedTuple):
    """A word or phrase as typed; with `prefix`, every word that starts with it."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """The requirements of a query, as terms: one term of each tuple in `wanted`, and none of the `unwanted` terms."""

    wanted: tuple[tuple[Term, ...], ...]
    unwanted: tuple[Term, ...] = ()

    @classmethod
    def of(cls, typed: str, *, any_word: bool = False) -> Words:
        """Parse a query like `apple "fruit tree" -pear mil* mill OR flour`.

        Quotes make a phrase, in which no other sign has a meaning. A minus before a word or phrase excludes it. A star
        after a word stands for the rest of it. OR, in capitals between two wanted terms, accepts either; anywhere else
        it is an ordinary word. With `any_word`, one of all the wanted terms is enough.
        """
        wanted: list[tuple[Term, ...]] = []
        unwanted: list[Term] = []
        parts = [part for part in PART.findall(typed) if (part[1] or part[2]).strip()]
        may_join = joins = False  # the part before is a wanted term; the part before is an OR after a wanted term
        for (minus, phrase, word), (minus_after, _, _) in pairwise([*parts, END]):
            if word == "OR" and not minus and may_join and not minus_after:
                may_join, joins = False, True
                continue
            term = Term(phrase) if phrase else _term(word)
            if minus:
                unwanted.append(term)
            elif joins:
                wanted[-1] += (term,)
            else:
                wanted.append((term,))
            may_join, joins = not minus, False
        if any_word and wanted:
            wanted = [tuple(term for alternatives in wanted for term in alternatives)]
        return cls(tuple(wanted), tuple(unwanted))


def as_typed(wanted: Sequence[Sequence[Term]]) -> str:
    """Return the query that is parsed into these terms."""
    return " ".join(" OR ".join(map(typed_term, alternatives)) for alternatives in wanted)


def typed_term(term: Term) -> str:
    """Return a term as it has to be typed: in quotes where it would otherwise be read as something else."""
    if term.prefix:
        return f"{term.text}*"
    return term.text if term.text != "OR" and Words.of(term.text).wanted == ((term,),) else f'"{term.text}"'


def _term(word: str) -> Term:
    start = word.rstrip("*")
    return Term(start, prefix=True) if start and start != word else Term(word)
