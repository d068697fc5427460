"""Why a search has found nothing, and what would find something: never a silent zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opensearch_winnow.index import Index
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Term, Words

LEFT_OUT = 8  # parts of what was typed; more are not tried one by one


class NoHit(NamedTuple):
    """`str` of it is a sentence without its full stop."""

    reason: str
    offer: str = ""  # what would find something
    words: str | None = None  # to search for instead
    filters: bool = True  # whether these may stay

    def __str__(self) -> str:
        return f"{self.reason}; {self.offer}" if self.offer else self.reason


def no_hit(index: Index, typed: str, *, any_word: bool, where: Filters, all_captures: bool, filters: str) -> NoHit:
    """`filters` names those of `where`, as who asked knows them."""

    def pages(words: str, *, any_word: bool = False, where: Filters = where) -> int:
        return index.search(words, any_word=any_word, where=where, all_captures=all_captures, limit=1).total

    if not index.store.count():
        return NoHit(
            f"No page found: {index.name} has none yet", f"winnow index SOURCE --store {index.name} puts them there"
        )
    if filters:
        anywhere = index.search(typed, any_word=any_word, limit=1).total
        if anywhere:
            offer = f"without, {anywhere:,} {'has' if anywhere == 1 else 'have'}"
            return NoHit(f"No page has these words with {filters}", offer, typed, filters=False)
    words = Words.of(typed, any_word=any_word)
    if words.unwanted and (count := pages(as_typed(words.wanted))):
        reason = f"No page has these words without {' '.join(map(_typed, words.unwanted))}"
        return NoHit(reason, f"{count:,} with it", as_typed(words.wanted))
    if len(words.wanted) == 1:
        (terms,) = words.wanted
        missing = _typed(terms[0]) if len(terms) == 1 else "any of these words"
        return NoHit(f"No page of {index.name} has {missing}")
    fewer = {part: as_typed([each for each in words.wanted if each is not part]) for part in words.wanted[:LEFT_OUT]}
    counts = {part: pages(rest) for part, rest in fewer.items()}
    part = max(counts, key=lambda each: counts[each])
    count = counts[part]
    if not count:
        return NoHit(f"No page of {index.name} has all these words, nor all but one of them")
    offer = f"without {as_typed([part])} there {'is' if count == 1 else 'are'} {count:,}"
    return NoHit("No page has all these words", offer, fewer[part])


def as_typed(wanted: Sequence[Sequence[Term]]) -> str:
    """What makes the same of it when it is typed."""
    return " ".join(" OR ".join(map(_typed, alternatives)) for alternatives in wanted)


def _typed(term: Term) -> str:
    """In quotes where it would be read as something else."""
    if term.prefix:
        return f"{term.text}*"
    return term.text if term.text != "OR" and Words.of(term.text).wanted == ((term,),) else f'"{term.text}"'
