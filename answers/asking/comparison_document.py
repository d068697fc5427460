"""The comparison of two texts, as JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NotRequired, TypedDict

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.answers.formatting import time_stamp
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.compare import Comparison
from opensearch_winnow.queries.relationship import Kind, Relationship
from opensearch_winnow.queries.scores import Passage


class PassageDocument(TypedDict):
    """A run of text in both: its offsets, in code points, in A (the question) and in B (the page)."""

    start: int
    end: int
    other_start: int
    other_end: int


class NumberedPassageDocument(PassageDocument):
    """A passage has moved if it is not in the longest series of passages in the same order in both texts."""

    number: int
    words: int
    moved: bool


class ScoresDocument(TypedDict):
    """`containment` is how much of A is in B, `contained` how much of B is in A."""

    resemblance: float
    containment: float
    contained: float


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


class ComparisonDocument(ScoresDocument):
    """`a` and `b` are the captures that were compared; absent for a file. `boilerplate` has shared runs that are no
    evidence of copying; absent if no store was used. `removed` and `added` are runs of text that only A or only B has;
    absent unless they were requested."""

    relationship: RelationshipDocument | None
    a: NotRequired[ComparedCaptureDocument]
    b: NotRequired[ComparedCaptureDocument]
    passages: list[PassageDocument]
    boilerplate: NotRequired[list[PassageDocument]]
    removed: NotRequired[list[dict[str, Any]]]
    added: NotRequired[list[dict[str, Any]]]


class ComparedTextDocument(TypedDict):
    """A or B: a capture, or a pasted text, which has no URL. `covered` is the share of its characters in passages,
    `greyed` the share in boilerplate only. `unshared_words` are in neither; they are at `unshared_places` places."""

    id: str
    url: str | None
    title: str | None
    site: str | None
    fetched_at: str | None
    characters: int
    covered: float
    greyed: float
    unshared_words: int
    unshared_places: int


class ComparedDocument(ScoresDocument):
    """The shared text of two texts, in words and numbers. `hidden` counts passages shorter than requested. If a text is
    not stored, the scores are estimates with a standard `error`, there are no passages, and `relationship` is null."""

    answer: str
    relationship: RelationshipDocument | None
    kind: Literal["exact", "estimate"]
    error: float
    scheme: str
    a: ComparedTextDocument
    b: ComparedTextDocument
    passages: list[NumberedPassageDocument]
    hidden: int
    boilerplate: list[PassageDocument]
    seconds: float


def comparison_document(
    comparison: Comparison, a: Record | None, b: Record | None, *, boilerplate: bool
) -> ComparisonDocument:
    """Return a comparison. `a` and `b` are the captures that were compared, None for a file."""
    found: ComparisonDocument = {
        "resemblance": comparison.resemblance,
        "containment": comparison.containment,
        "contained": comparison.contained,
        "relationship": relationship_document(comparison.relationship),
        "passages": passage_documents(comparison.passages),
    }
    if a is not None:
        found["a"] = {"id": a.id, "url": a.url, "fetched_at": time_stamp(a)}
    if b is not None:
        found["b"] = {"id": b.id, "url": b.url, "fetched_at": time_stamp(b)}
    if boilerplate:
        found["boilerplate"] = passage_documents(comparison.boilerplate)
    return found


def passage_documents(passages: Iterable[Passage]) -> list[PassageDocument]:
    return [
        {"start": start, "end": end, "other_start": other_start, "other_end": other_end}
        for start, end, other_start, other_end in passages
    ]


def relationship_document(relationship: Relationship | None) -> RelationshipDocument | None:
    return {"kind": relationship.kind, "reason": relationship.reason} if relationship else None


def compared_document(compared: Compared, answer: str, seconds: float) -> ComparedDocument:
    comparison = compared.comparison
    return {
        "answer": answer,
        "relationship": relationship_document(comparison.relationship),
        "resemblance": comparison.resemblance,
        "containment": comparison.containment,
        "contained": comparison.contained,
        "kind": compared.kind,
        "error": compared.error,
        "scheme": compared.scheme.id,
        "a": _text(compared.a),
        "b": _text(compared.b),
        "passages": [
            {
                "number": each.number,
                "words": each.words,
                "moved": each.moved,
                "start": each.passage.start,
                "end": each.passage.end,
                "other_start": each.passage.other_start,
                "other_end": each.passage.other_end,
            }
            for each in compared.passages
        ],
        "hidden": compared.hidden,
        "boilerplate": passage_documents(comparison.boilerplate),
        "seconds": round(seconds, 6),
    }


def _text(side: ComparedText) -> ComparedTextDocument:
    return {
        "id": side.id,
        "url": side.url,
        "title": side.title,
        "site": side.site,
        "fetched_at": time_stamp(side),
        "characters": len(side.text),
        "covered": side.covered,
        "greyed": side.greyed,
        "unshared_words": side.unshared_words,
        "unshared_places": len(side.unshared),
    }
