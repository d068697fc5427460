"""The comparison of two texts, as JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from opensearch_winnow.queries.relationship import Kind, Relationship
from opensearch_winnow.queries.scores import Passage


class PassageDocument(TypedDict):
    """A run of text in both: its offsets, in code points, in A (the question) and in B (the page)."""

    start: int
    end: int
    other_start: int
    other_end: int


class RelationshipDocument(TypedDict):
    """The relationship of B (the page) to A (the question). "condensed" and "expanded" say what B is; all other kinds
    are the same in both directions. `reason` is a sentence."""

    kind: Kind
    reason: str


class ComparedCaptureDocument(TypedDict):
    """The capture that was compared."""

    id: str
    url: str
    fetched_at: str | None


def passage_documents(passages: Iterable[Passage]) -> list[PassageDocument]:
    return [
        {"start": start, "end": end, "other_start": other_start, "other_end": other_end}
        for start, end, other_start, other_end in passages
    ]


def relationship_document(relationship: Relationship | None) -> RelationshipDocument | None:
    return {"kind": relationship.kind, "reason": relationship.reason} if relationship else None
