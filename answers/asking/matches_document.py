"""The matches of a question, as JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypedDict

from opensearch_winnow.answers.asking.comparison_document import (
    PassageDocument,
    RelationshipDocument,
    passage_documents,
    relationship_document,
)
from opensearch_winnow.answers.formatting import time_stamp
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.scores import Score


class MatchDocument(TypedDict):
    """A page and how it compares with the question. `containment` is how much of the question is in the page,
    `contained` how much of the page is in the question; `error` is the standard error of an estimate.
    `relationship` is null if no passages were sought, as with estimates."""

    id: str
    url: str
    title: str | None
    site: str
    fetched_at: str | None
    resemblance: float
    containment: float
    contained: float
    kind: Literal["exact", "estimate"]
    error: float
    relationship: RelationshipDocument | None
    passages: list[PassageDocument]
    boilerplate: list[PassageDocument]


class FoundDocument(TypedDict):
    """`matches` are the best of `total`, ordered by the score named in `asked`, which is at least the `threshold`.
    `candidates` pages share hashes with the question; `unscored` of them were not scored, because the time was up, and
    `uncompared` of them were not, because others share as much or more. `ignored` hashes were not looked up, because
    too many pages have them. `below_guarantee`: the question is so short that pages with it may be missed. `too_short`:
    it is too short to be checked for copies, and only pages that resemble it as a whole can match."""

    total: int
    asked: Score
    threshold: float
    candidates: int
    unscored: int
    uncompared: int
    ignored: int
    below_guarantee: bool
    too_short: bool
    seconds: float


class MatchesDocument(FoundDocument):
    """Pages that are similar to the question."""

    matches: list[MatchDocument]


def matches_document(matches: Matches) -> MatchesDocument:
    return {**found_document(matches), "matches": match_documents(matches)}


def found_document(matches: Matches) -> FoundDocument:
    return {
        "total": matches.total,
        "asked": matches.score,
        "threshold": matches.threshold,
        "candidates": matches.candidates,
        "unscored": matches.unscored,
        "uncompared": matches.uncompared,
        "ignored": matches.ignored,
        "below_guarantee": matches.below_guarantee,
        "too_short": matches.too_short,
        "seconds": round(matches.seconds, 6),
    }


def match_documents(matches: Iterable[Match]) -> list[MatchDocument]:
    return [match_document(match) for match in matches]


def match_document(match: Match) -> MatchDocument:
    return {
        "id": match.card.id,
        "url": match.url,
        "title": match.card.title,
        "site": match.card.site,
        "fetched_at": time_stamp(match.card),
        "resemblance": match.resemblance,
        "containment": match.containment,
        "contained": match.contained,
        "kind": match.kind,
        "error": match.error,
        "relationship": relationship_document(match.relationship),
        "passages": passage_documents(match.passages),
        "boilerplate": passage_documents(match.boilerplate),
    }
