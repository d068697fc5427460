"""Defines the matches of a question: the pages that are similar to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.relationship import Lengths, Relationship, judge_relationship
from opensearch_winnow.queries.scores import Passage, Score


@dataclass(frozen=True, slots=True)
class Match:
    """A page that is similar to the question, and how it compares with it."""

    card: Card
    resemblance: float
    containment: float  # the share of the question that is in the page
    contained: float  # the share of the page that is in the question
    kind: Literal["exact", "estimate"]
    error: float  # the standard error of the score that matches are ordered by; 0: exact
    passages: list[Passage]  # in the order of the question; empty if a text is not stored, or was not compared
    boilerplate: list[Passage] = field(default_factory=list)  # shared runs that are boilerplate, and do not count
    sameness: str = ""  # what is the same if the canonical texts are equal, in words; empty if they are not
    lengths: Lengths | None = None  # of the question and of the page; None: no passages were sought

    @property
    def url(self) -> str:
        """The URL of the page."""
        return self.card.url

    @property
    def title(self) -> str | None:
        """The title of the page; None if it has none."""
        return self.card.title

    @property
    def relationship(self) -> Relationship | None:
        """The relationship of the page (B) to the question (A), and its reason; None if no passages were sought."""
        return judge_relationship(self)


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches of a question, the best first. Behaves like a list of matches."""

    matches: list[Match]
    total: int  # all matches, including those `uncompared`; `matches` holds the first of them
    score: Score  # the score that the matches are ordered by
    threshold: float  # its minimum
    candidates: int  # pages that share tokens with the question, which were scored
    tokens: int  # different tokens that the question has for lookups
    ignored: int  # tokens that were not looked up, because too many pages have them
    frequent: int  # a token on more pages than this may be ignored
    seconds: float
    unscored: int = 0  # candidates that were not scored, because the time was up
    uncompared: int = 0  # captures in `total` that share a hash but were not compared: others share as much or more
    below_guarantee: bool = False  # the question is so short that a page with it, or with some of it, may be missed
    too_short: bool = False  # it is below the noise threshold: only pages that resemble it as a whole can match

    def __len__(self) -> int:
        return len(self.matches)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __getitem__(self, index: int) -> Match:
        return self.matches[index]
