"""Defines the matches of a question: the pages that are similar to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from opensearch_winnow.foundation.answers import Answer, answer, derived, inlined, key
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.relationship import Lengths, Relationship, judge_relationship
from opensearch_winnow.queries.scores import Passage, Score


@answer
class Match(Answer):
    """A page that is similar to the question, and how it compares with it."""

    card: Card = inlined()
    resemblance: float = key("The shared text, as a share of the text of both.")
    containment: float = key("The share of the question that is in the page.")
    contained: float = key("The share of the page that is in the question.")
    kind: Literal["exact", "estimate"] = key("Whether the scores were computed from both texts, or from sketches.")
    error: float = key("The standard error of the score that orders the matches; 0 if it is exact.")
    passages: list[Passage] = key(
        "The shared passages, in the order of the question; none if a text is not stored, or was not compared.",
        column=len,
    )
    boilerplate: list[Passage] = key("Shared runs that are boilerplate, and do not count.", default_factory=list)
    sameness: str = ""  # what is the same if the canonical texts are equal, in words; empty if they are not
    lengths: Lengths | None = None  # of the question and of the page; None: no passages were sought

    @property
    @derived(column=lambda found: found.kind)
    def relationship(self) -> Relationship | None:
        """The relationship of the page (B) to the question (A); null if no passages were sought, as in estimates."""
        return judge_relationship(self)

    @property
    def id(self) -> str:
        """The id of the capture."""
        return self.card.id

    @property
    def url(self) -> str:
        """The URL of the page."""
        return self.card.url

    @property
    def title(self) -> str | None:
        """The title of the page; None if it has none."""
        return self.card.title

    @property
    def fetched_at(self) -> datetime | None:
        """The time of the capture; None if it is unknown."""
        return self.card.fetched_at


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
