"""The pairs of a set of documents, as JSON values and as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict

from opensearch_winnow.answers.sets.pairs_words import reasons_of
from opensearch_winnow.queries.sets.pairs import Document, Measure, Pair, Pairs, Unread

# The columns of a table of pairs. `passages` is their number.
COLUMNS: dict[str, type] = {
    "a": str,
    "b": str,
    "similarity": float,
    "resemblance": float,
    "containment": float,
    "contained": float,
    "coverage": float,
    "longest": int,
    "passages": int,
}


class SharedPassageDocument(TypedDict):
    """A run of text in a file of A and in a file of B, with offsets in code points; `words` are tokens of a program."""

    file: str
    start: int
    end: int
    other_file: str
    other_start: int
    other_end: int
    words: int


class PairDocument(TypedDict):
    """`containment` is how much of A is in B, `contained` how much of B is in A, `coverage` how much of the shorter one
    is in passages, and `longest` the words of the longest passage."""

    a: str
    b: str
    similarity: float
    resemblance: float
    containment: float
    contained: float
    coverage: float
    longest: int
    passages: list[SharedPassageDocument]


class NotComparedDocument(TypedDict):
    """A document that was not compared, or only in part, and why."""

    name: str
    reason: str


class UnreadDocument(TypedDict):
    """A file or row that was not compared, and the `document` that it is part of, if any. `failed` is false if it is of
    a kind that is not read."""

    name: str
    reason: str
    failed: bool
    document: str


class PairsDocument(TypedDict):
    """The documents `not_compared`, of the number `submitted`, are in no pair. `unread` names their files, those of
    documents that were `partly_compared`, and others that were left out.

    `pairs` are the first of `total`, ranked `by` a measure that is at least the `threshold`; `groups` is how many
    groups of documents all of them connect. `compared` pairs were compared; `histogram` counts these by similarity, in
    steps of 0.02."""

    not_compared: list[NotComparedDocument]
    partly_compared: list[NotComparedDocument]
    submitted: int
    pairs: list[PairDocument]
    total: int
    groups: int
    by: Measure
    threshold: float
    documents: int
    earlier: int
    compared: int
    submissions: Literal["files", "folders"]
    base: int
    scheme: str
    form: str
    histogram: list[int]
    unread: list[UnreadDocument]


def pairs_document(pairs: Pairs) -> PairsDocument:
    """Return the pairs."""
    documents = {document.id: document for document in pairs.documents}
    return {
        "not_compared": _not_compared(pairs.not_compared),
        "partly_compared": _not_compared(pairs.partly_compared),
        "submitted": pairs.submitted,
        "pairs": [_pair_document(pair, documents[pair.a], documents[pair.b]) for pair in pairs.pairs],
        "total": pairs.total,
        "groups": pairs.groups,
        "by": pairs.measure,
        "threshold": pairs.threshold,
        "documents": len(pairs.documents),
        "earlier": sum(document.earlier for document in pairs.documents),
        "compared": pairs.compared,
        "submissions": "folders" if pairs.folders else "files",
        "base": pairs.base,
        "scheme": pairs.scheme,
        "form": pairs.form,
        "histogram": pairs.histogram,
        "unread": [
            {"name": each.name, "reason": each.reason, "failed": each.failed, "document": each.document}
            for each in pairs.unread
        ],
    }


def _not_compared(documents: Mapping[str, Sequence[Unread]]) -> list[NotComparedDocument]:
    return [{"name": name, "reason": reasons_of(unread)} for name, unread in documents.items()]


def pair_rows(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Yield a row of COLUMNS for each pair."""
    for pair in pairs.pairs:
        yield {name: getattr(pair, name) for name in COLUMNS} | {"passages": len(pair.passages)}


def _pair_document(pair: Pair, a: Document, b: Document) -> PairDocument:
    return {
        "a": pair.a,
        "b": pair.b,
        "similarity": pair.similarity,
        "resemblance": pair.resemblance,
        "containment": pair.containment,
        "contained": pair.contained,
        "coverage": pair.coverage,
        "longest": pair.longest,
        "passages": [
            {
                "file": a.files[each.file].name,
                "start": each.start,
                "end": each.end,
                "other_file": b.files[each.other_file].name,
                "other_start": each.other_start,
                "other_end": each.other_end,
                "words": each.words,
            }
            for each in pair.passages
        ],
    }
