"""Koala's search, in memory: every page of a collection against all, with its settings as parameters."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.rare_grams import rare_grams
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import TOKEN_SHIFT
from opensearch_winnow.queries.asking.frequency_check import FewStoredCheck
from opensearch_winnow.queries.asking.lookups import Lookup

SCHEME = Scheme.preset("koala")
RANGES = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, 50), (51, 100))  # of match ratios, in percent
COLUMNS = ("1 %", "2 %", "3–5 %", "6–10 %", "11–20 %", "21–50 %", "more than 50 %")
Matches = dict[tuple[int, int], float]  # from a question and a page, as numbers, to the match ratio


@dataclass(frozen=True)
class Koala:
    """The settings of a search. The defaults are those of the paper's baseline and of the preset `koala`."""

    stored: int = SCHEME.stored
    searched: int = SCHEME.searched
    alpha: int = SCHEME.k  # consonants of a substring
    rare: bool = True  # prefer substrings that begin with rare letters; otherwise those with the smallest hashes
    frequency_check: bool = True
    skipped: int = 1_000  # characters at the start of a document

    def consonants(self, text: str) -> str:
        return canonical(text[self.skipped :], SCHEME).chars

    def fingerprint(self, text: str, size: int) -> array[int]:
        """Return up to `size` tokens of a text, the best first."""
        chars = self.consonants(text)
        if self.rare:
            return rare_grams(chars, self.alpha, size)[0]
        return array("Q", sorted({each >> TOKEN_SHIFT for each in kgram_hashes(chars, self.alpha)})[:size])


DEFAULT = Koala()


class Database:
    """The stored fingerprints of documents."""

    def __init__(self, texts: Iterable[str], koala: Koala = DEFAULT) -> None:
        self._koala = koala
        self._sizes: list[int] = []
        self._pages: dict[int, list[int]] = defaultdict(list)  # by token
        for number, text in enumerate(texts):
            tokens = koala.fingerprint(text, koala.stored)
            self._sizes.append(len(tokens))
            for token in tokens:
                self._pages[token].append(number)

    def matches(self, text: str) -> dict[int, float]:
        """Return the documents that share a token with `text`, with their match ratio: shared of stored tokens."""
        tokens = self._koala.fingerprint(text, self._koala.searched)
        if self._koala.frequency_check and tokens:
            (lookup,) = FewStoredCheck().trimmed([Lookup("fingerprints", tokens)], self._frequent)
            tokens = lookup.tokens
        shared = Counter(page for token in tokens for page in self._pages.get(token, ()))
        return {page: count / self._sizes[page] for page, count in shared.items()}

    def _frequent(self, lookups: Sequence[Lookup]) -> list[Mapping[int, int]]:
        limit = FewStoredCheck().max_pages
        return [
            {token: len(self._pages[token]) for token in lookup.tokens if len(self._pages.get(token, ())) > limit}
            for lookup in lookups
        ]


class Collection:
    """Documents that are searched for each other."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self._matches: dict[Koala, Matches] = {}

    def all_against_all(self, koala: Koala = DEFAULT) -> Matches:
        if koala not in self._matches:
            database = Database(self.texts, koala)
            self._matches[koala] = {
                (question, page): ratio
                for question, text in enumerate(self.texts)
                for page, ratio in database.matches(text).items()
            }
        return self._matches[koala]

    def pairs(self, koala: Koala = DEFAULT) -> int:
        """Return how many documents match another one."""
        return sum(question != page for question, page in self.all_against_all(koala))

    @cached_property
    def full(self) -> tuple[Matches, list[int]]:
        """Match ratios by all substrings instead of a selection, and the number of substrings of each document."""
        sets = [set(kgram_hashes(DEFAULT.consonants(text), DEFAULT.alpha)) for text in self.texts]
        pages = defaultdict(list)
        for number, hashes in enumerate(sets):
            for each in hashes:
                pages[each].append(number)
        shared: Counter[tuple[int, int]] = Counter()
        for numbers in pages.values():
            if len(numbers) > 1:
                shared.update((question, page) for question in numbers for page in numbers if question != page)
        return {pair: count / len(sets[pair[1]]) for pair, count in shared.items()}, [len(each) for each in sets]


def percent(ratio: float) -> int:
    """Round a ratio up to a whole percent."""
    return math.ceil(100 * ratio - 1e-9)


def distribution(matches: Matches) -> list[int]:
    """Return how many matches are in each of RANGES."""
    counts = Counter(map(percent, matches.values()))
    return [sum(counts[ratio] for ratio in range(low, high + 1)) for low, high in RANGES]


def distribution_cells(matches: Matches) -> list[str]:
    """Return the distribution as the paper prints it, with the matches of a document with another in brackets."""
    others = sum(ratio > 0.5 for (question, page), ratio in matches.items() if question != page)
    *low, high = distribution(matches)
    return [*(f"{count:,}" for count in low), f"{high:,} ({others:,})"]
