"""Defines the matches of a question: the pages that are similar to it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, inlined, key, listed
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
    kind: Literal["exact", "estimate"] = key("exact: scores computed from both texts; estimate: from sketches.")
    error: float = key("The standard error of the score that orders the matches; 0 if it is exact.")
    passages: list[Passage] = key(
        "The shared passages, in the order of the question; none if a text is not stored, or was not compared.",
        column=len,
    )
    boilerplate: list[Passage] = key("Shared runs that are boilerplate, and do not count.", default_factory=list)
    sameness: str = ""  # if the canonical texts are equal: "the same words in the same order", for example
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


@answer
class Matches(Listing[Match]):
    """The matches of a question, the best first."""

    total: int = key("The number of all matches, including the `uncompared` ones; some may not be listed.")
    score: Score = key("The score that orders the matches.")
    min_score: float = key("Its minimum.")
    candidates: int = key("The number of pages that share hashes with the question.")
    unscored: int = key("The number of candidates that were not scored, because the time was up.")
    uncompared: int = key(
        "The number of captures in `total` that share a hash, but were not compared: others share as much or more."
    )
    tokens: int  # distinct tokens in the question's lookups
    ignored: int = key("The number of hashes that were not looked up, because too many pages have them.")
    frequent: int  # a token on more pages than this may be ignored
    below_guarantee: bool = key(
        "True if the question is so short that a page with it, or with some of it, may be missed."
    )
    too_short: bool = key(
        "True if the question is too short to be checked for copies: only pages that resemble it as a whole can match."
    )
    seconds: float = key("The time it took.")
    matches: list[Match] = listed("The best of the matches.")
