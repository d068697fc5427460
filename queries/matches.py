"""The answer to "what is similar?"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.compare import Passage

Score = Literal["resemblance", "containment", "contained"]


@dataclass(frozen=True, slots=True)
class Match:
    """A page, and how it compares with the question."""

    card: Card
    resemblance: float
    containment: float  # how much of the question is in the page
    contained: float  # how much of the page is in the question
    kind: Literal["exact", "estimate"]
    error: float  # the standard error of the score that was asked for; 0 where it is exact
    passages: list[Passage]  # in the order of the question; none where a text is not stored, or not looked at
    boilerplate: list[Passage] = field(default_factory=list)  # shared too, but no evidence

    @property
    def url(self) -> str:
        """Of the page."""
        return self.card.url


@dataclass(frozen=True, slots=True)
class Matches:
    """Behaves as the list of its matches, the best first."""

    matches: list[Match]
    total: int  # of which `matches` are the first
    score: Score  # the score that the matches are ordered by
    threshold: float
    candidates: int  # pages that were scored
    tokens: int  # different ones that the question has to look for pages with
    ignored: int  # of them, because too many pages have them
    frequent: int  # a token on more pages than this may be ignored
    seconds: float

    def __len__(self) -> int:
        return len(self.matches)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __getitem__(self, index: int) -> Match:
        return self.matches[index]
