"""What somebody types to search for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

# How much a word counts in the title and in the text. Every store uses these weights, so that their scores are equal.
TITLE_WEIGHT, TEXT_WEIGHT = 4.0, 1.0

PART = re.compile(r'(-?)(?:"([^"]*)"?|(\S+))')
NOTHING_WANTED = ("-", "", "")  # behind the last part


class Term(NamedTuple):
    """A word or a phrase as it is typed; with `prefix` every word that starts so."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """A page has of each of the `wanted` alternatives at least one term, and none of the `unwanted` terms."""

    wanted: tuple[tuple[Term, ...], ...]
    unwanted: tuple[Term, ...] = ()

    @classmethod
    def of(cls, typed: str, *, any_word: bool = False) -> Words:
        """`apple "fruit tree" -pear mil* mill OR flour`

        Quotes make a phrase, in which nothing else has a meaning. A minus in front of a word or phrase says what a page
        must not have, a star behind a word stands for the rest of it, and OR, in capitals, between two wanted ones says
        that either will do; anywhere else OR is a word like others. With `any_word` one of all the wanted ones will do.
        """
        wanted: list[tuple[Term, ...]] = []
        unwanted: list[Term] = []
        parts = [found for found in PART.findall(typed) if (found[1] or found[2]).strip()]
        may_join = joins = False  # the part before is wanted; it is an OR between a wanted one and this one
        for (minus, phrase, word), (minus_after, _, _) in pairwise([*parts, NOTHING_WANTED]):
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


def _term(word: str) -> Term:
    start = word.rstrip("*")
    return Term(start, prefix=True) if start and start != word else Term(word)
