"""The pairs of documents that have something in common, and what it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from opensearch_winnow.foundation.scheme import Scheme

# Reasons why something is not compared: there is nothing in it.
EMPTY_FOLDER, EMPTY, NO_TEXT = "an empty folder", "empty", "no text"
NOTHING_COUNTS = "nothing but comments and signs"
UNCLOSED = "a string or comment that is not closed hides the rest of it"

Measure = Literal["similarity", "resemblance", "containment", "longest"]


class DocumentFile(NamedTuple):
    """One of the files of a document."""

    name: str
    text: str


class FilePart(NamedTuple):
    """A part of one of the files of a document, in code points."""

    file: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text or program that is compared with others: one file, or all files of a submission."""

    id: str
    files: tuple[DocumentFile, ...]
    owner: str = ""  # two documents of one owner are not compared
    earlier: bool = False  # from a store: compared with those that are not, but not with each other
    site: str | None = None  # of a page, which decides the template that does not count
    left_out: tuple[FilePart, ...] = ()  # base text and boilerplate, which count in no number


class SharedPassage(NamedTuple):
    """A run of text that two documents share. Offsets are code points of the files."""

    file: int  # of document A, by its number
    start: int
    end: int
    other_file: int  # of document B
    other_start: int
    other_end: int
    words: int  # tokens, in a program


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents that have something in common. Base files and boilerplate count in no number."""

    a: str
    b: str
    similarity: float  # what pairs are ranked by, from 0 to 1
    resemblance: float  # shingles in both, as a share of those in either
    containment: float  # how much of A is in B
    contained: float  # how much of B is in A
    coverage: float  # the share of the shorter document that is in shared passages
    longest: int  # words in the longest shared passage
    passages: list[SharedPassage]  # in the order of A


class Unread(NamedTuple):
    """A file or row that was not compared, and why."""

    name: str
    reason: str
    failed: bool = False  # it should have been read, but could not be
    document: str = ""  # the id of the document that it is, or is a part of; empty if it is part of none
    work: bool = False  # its author may have written in it: it is no picture, and no data


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of a set above a threshold, the most similar first."""

    documents: Sequence[Document]
    pairs: list[Pair]
    threshold: float
    measure: Measure
    scheme: str  # id
    compared: int  # pairs of documents that were compared
    histogram: list[int] = field(default_factory=list)  # compared pairs by similarity, in 50 bars
    total: int = 0  # pairs that reach the threshold; `pairs` may be the first of these
    groups: int = 0  # groups of documents that these pairs connect
    parameters: Scheme = Scheme()  # the scheme itself
    form: str = "text"  # of the scheme; "code" if the documents are programs
    folders: bool = False  # each sub-folder was one document
    base: int = 0  # files of base code or text, which does not count
    unread: list[Unread] = field(default_factory=list)

    @property
    def submitted(self) -> int:
        """The number of documents that were to be compared, without the earlier ones."""
        return sum(not each.earlier for each in self.documents) + len(self.not_compared)

    @property
    def not_compared(self) -> dict[str, list[Unread]]:
        """The documents of which nothing was compared, by their ids, and why."""
        compared = {each.id for each in self.documents}
        return _by_document(each for each in self.unread if each.document not in compared)

    @property
    def partly_compared(self) -> dict[str, list[Unread]]:
        """The documents of which some work was not compared, by their ids, and why."""
        compared = {each.id for each in self.documents}
        nothing = (EMPTY_FOLDER, EMPTY, NO_TEXT)
        parts = (each for each in self.unread if each.work and each.reason not in nothing)
        return _by_document(each for each in parts if each.document in compared)


def _by_document(unread: Iterable[Unread]) -> dict[str, list[Unread]]:
    by_document: dict[str, list[Unread]] = {}
    for each in unread:
        if each.document:
            by_document.setdefault(each.document, []).append(each)
    return by_document
