"""The pairs of documents that have text in common, with their passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from opensearch_winnow.foundation.answer_keys import with_keys
from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, key, listed
from opensearch_winnow.foundation.scheme import Scheme

# Reasons why a file or folder without content is not compared.
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
    earlier: bool = False  # from a store: compared with the other documents, but not with each other
    site: str | None = None  # of a page, which decides the template that does not count
    left_out: tuple[FilePart, ...] = ()  # base text and boilerplate, which no figure counts


@with_keys("file", "start", "end", "other_file", "other_start", "other_end", "words")
class SharedPassage(NamedTuple):
    """A run of text in a file of document A and in a file of document B. Offsets are code points of the files."""

    file: str  # the name of the file of A
    start: int
    end: int
    other_file: str
    other_start: int
    other_end: int
    words: int  # tokens, in a program
    file_number: int  # among the files of A, from 0
    other_file_number: int


@answer
class Pair(Answer):
    """Two documents that have text in common. No figure counts base files and boilerplate."""

    a: str = key("The id of document A.")
    b: str = key("The id of document B.")
    similarity: float = key("The score that ranks the pairs, from 0 to 1.")
    resemblance: float = key("The shingles in both, as a share of those in either.")
    containment: float = key("The share of A that is in B.")
    contained: float = key("The share of B that is in A.")
    coverage: float = key("The share of the shorter document that is in passages.")
    longest: int = key("The number of words of the longest passage; in a program, of tokens.")
    passages: list[SharedPassage] = key("The passages, in the order of A.", column=len)

    def score(self, measure: Measure) -> float:
        """Return the number by which a measure ranks pairs: a share, or for `longest` a number of words."""
        if measure == "containment":
            return max(self.containment, self.contained)
        return {"similarity": self.similarity, "resemblance": self.resemblance, "longest": self.longest}[measure]


@with_keys("name", "reason", "failed", "document")
class Unread(NamedTuple):
    """A file or row that was not compared, and why."""

    name: str
    reason: str
    failed: bool = False  # it should have been read, but could not be
    document: str = ""  # the id of the document that it is or belongs to; empty if there is none
    work: bool = False  # may be its author's own text or program, unlike pictures and data


@answer
class NotCompared(Answer):
    """A document that was not compared, or only in part."""

    name: str = key("The id of the document.")
    unread: list[Unread]  # its files that were not compared

    @property
    @derived
    def reason(self) -> str:
        """The reasons, of the files that may be its author's work if there are any, otherwise of all."""
        work = [each.reason for each in self.unread if each.work]
        return ", ".join(dict.fromkeys(work or (each.reason for each in self.unread)))


@answer
class Pairs(Listing[Pair]):
    """All pairs of a set that reach a minimum score, the best first."""

    documents: Sequence[Document]  # that were compared
    pairs: list[Pair] = listed("The pairs, the best first, up to the limit.")
    total: int = key("The number of pairs that reach the minimum score.")
    groups: int = key("The number of groups of documents that these pairs connect.")
    measure: Measure = key("The measure that ranks the pairs.", name="by")
    min_score: float = key("The minimum of this measure.")
    compared: int = key("The number of pairs of documents that were compared.")
    histogram: list[int] = key("The compared pairs by similarity, in steps of 0.02.")
    parameters: Scheme = Scheme()  # the scheme itself
    folders: bool = False  # each sub-folder was one document
    base: int = key("The number of files of base code or text, which does not count.", default=0)
    unread: list[Unread] = key("The files and rows that were not compared.", default_factory=list)

    @property
    @derived(first=True)
    def not_compared(self) -> list[NotCompared]:
        """The documents of which nothing was compared. They are in no pair."""
        compared = {each.id for each in self.documents}
        return _by_document(each for each in self.unread if each.document not in compared)

    @property
    @derived(first=True)
    def partly_compared(self) -> list[NotCompared]:
        """The documents of which some work was not compared."""
        compared = {each.id for each in self.documents}
        nothing = (EMPTY_FOLDER, EMPTY, NO_TEXT)
        parts = (each for each in self.unread if each.work and each.reason not in nothing)
        return _by_document(each for each in parts if each.document in compared)

    @property
    @derived(first=True)
    def submitted(self) -> int:
        """The number of documents to compare, without the earlier ones."""
        return len(self.documents) - self.earlier + len(self.not_compared)

    @property
    @derived(name="documents")
    def document_count(self) -> int:
        """The number of documents that were compared, with the earlier ones."""
        return len(self.documents)

    @property
    @derived
    def earlier(self) -> int:
        """The number of documents from a store, which are not compared with each other."""
        return sum(each.earlier for each in self.documents)

    @property
    @derived
    def submissions(self) -> Literal["files", "folders"]:
        """The documents: files, or sub-folders with all their files."""
        return "folders" if self.folders else "files"

    @property
    @derived
    def scheme(self) -> str:
        """The id of the scheme."""
        return self.parameters.id

    @property
    @derived
    def form(self) -> str:
        """The form of the documents: "code" for programs, otherwise "text"."""
        return self.parameters.form


def _by_document(unread: Iterable[Unread]) -> list[NotCompared]:
    by_document: dict[str, list[Unread]] = {}
    for each in unread:
        if each.document:
            by_document.setdefault(each.document, []).append(each)
    return [NotCompared(name, some) for name, some in by_document.items()]
