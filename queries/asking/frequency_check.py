"""Chooses the tokens of a question that are worth a lookup: frequent ones cost the most and say the least."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.asking.lookups import Field, Lookup

DEFAULT_FREQUENT = 1_000  # pages, as Broder and others chose for the Web
# Of this many tokens in a row, one is looked up even if all are frequent. Otherwise anyone could hide a passage, and
# every page that has it, by putting it on enough pages.
MAX_FREQUENT_RUN = 4
MAX_IGNORED = 10  # fingerprints of a question, of a few that its pages store: as in Koala
# Bands are never checked: pages that share a band are near-duplicates, even if there are many of them.
CHECKED_FIELDS: tuple[Field, ...] = ("fingerprints", "sketch")

# From lookups to {token: pages} for the tokens on more than `max_pages` pages.
CountPages = Callable[[Sequence[Lookup]], Sequence[Mapping[int, int]]]


@dataclass(frozen=True, slots=True)
class FrequencyCheck:
    """Leaves out frequent tokens, those on more than `max_pages` pages, in the given `fields`.

    Broder's frequency check, weakened so that it cannot hide a copy: a run of MAX_FREQUENT_RUN shared tokens is always
    found.
    """

    max_pages: int = DEFAULT_FREQUENT
    fields: Collection[Field] = CHECKED_FIELDS

    @classmethod
    def of(cls, scheme: Scheme, max_pages: int = DEFAULT_FREQUENT) -> FrequencyCheck:
        """Return the check for a scheme. `max_pages`, if it is not the default, counts for schemes of all kinds."""
        return FewStoredCheck() if scheme.stores_part and max_pages == DEFAULT_FREQUENT else cls(max_pages)

    def trimmed(self, lookups: Sequence[Lookup], count_pages: CountPages) -> list[Lookup]:
        """Return the lookups without their frequent tokens; `count_pages` is called once, for the checked fields."""
        checked = [lookup for lookup in lookups if lookup.field in self.fields]
        frequent = iter(count_pages(checked) if checked else ())
        return [self._trimmed(lookup, next(frequent)) if lookup.field in self.fields else lookup for lookup in lookups]

    def _trimmed(self, lookup: Lookup, frequent: Mapping[int, int]) -> Lookup:
        """Leave out frequent tokens, and lower the minimum by their number: a page may share any of them."""
        if not frequent:
            return lookup
        tokens = self._kept(lookup, frequent)
        return lookup._replace(tokens=tokens, minimum=max(lookup.minimum - (len(lookup.tokens) - len(tokens)), 1))

    def _kept(self, lookup: Lookup, frequent: Mapping[int, int]) -> array[int]:
        return rare_tokens(lookup.tokens, frequent)


@dataclass(frozen=True, slots=True)
class FewStoredCheck(FrequencyCheck):
    """Leaves out the fingerprints on four pages or more, but the ten most frequent at most.

    This is for schemes that store a part of the fingerprints of a page. If all were left out, anyone could hide a page
    by adding copies of it. Sketches are checked as in other schemes.
    """

    max_pages: int = 3

    def _kept(self, lookup: Lookup, frequent: Mapping[int, int]) -> array[int]:
        if lookup.field != "fingerprints":
            return rare_tokens(lookup.tokens, {token: on for token, on in frequent.items() if on > DEFAULT_FREQUENT})
        most = min(MAX_IGNORED, len(lookup.tokens) - 1)
        ignored = set(nlargest(most, frequent, key=lambda token: (frequent[token], token)))
        return array("Q", (token for token in lookup.tokens if token not in ignored))


def rare_tokens(tokens: array[int], frequent: Mapping[int, int]) -> array[int]:
    """Return the tokens to look up, in their order: all rare ones, and the rarest of every MAX_FREQUENT_RUN in a row.

    `tokens` are in the order of the text, so a shared run of MAX_FREQUENT_RUN tokens is still found. At least one is
    kept. `frequent` maps each frequent token to the number of its pages.
    """

    def rarity(index: int) -> tuple[int, int]:
        return frequent[tokens[index]], tokens[index]

    kept = array("Q")
    passed: list[int] = []  # indices since the last token that was kept
    for index, token in enumerate(tokens):
        passed.append(index)
        if token not in frequent:
            kept.append(token)
            passed.clear()
        elif len(passed) == MAX_FREQUENT_RUN:
            rarest = min(passed, key=rarity)
            kept.append(tokens[rarest])
            passed = [each for each in passed if each > rarest]
    if passed and not kept:
        kept.append(tokens[min(passed, key=rarity)])
    return kept
