"""Finds passages that occur in several documents of a set, exactly, and cuts them out of its texts."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Self, get_args

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.repeated_shingles import repeated_runs
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.foundation.option_kinds import number, one_of
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.operations.sets.shingle_counts import ShingleCounts

Occurrences = Literal["later", "every"]


class RepeatedPassage(NamedTuple):
    """A passage that occurs in several documents. Offsets are code points of the text."""

    start: int
    end: int
    documents: int  # that have it: the smallest number that have a run of `words` words in it


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageOptions(Options):
    """The definition of a repeated passage."""

    words: int = option(50, number(1, 1_000_000), "With --passages: minimum words of a passage.", advanced=True)
    documents: int = option(  # several occurrences in one document count once
        2, number(2, 1_000_000_000), "With --passages: minimum number of rows that have it.", advanced=True
    )
    occurrences: Occurrences = option(
        "later",
        one_of(*get_args(Occurrences)),
        "With --passages: cut all occurrences but the first, or every one.",
        advanced=True,
    )


class RepeatedPassageFinder:
    """Finds repeated passages in two passes over the same texts in the same order.

    Usage: `add` each text, `count`, and then ask for the `passages` of each text. The work folder takes 12 bytes of
    disk for each word of the set.
    """

    def __init__(self, options: PassageOptions | None = None, work: Path | None = None) -> None:
        self.options = options or PassageOptions()
        self._counts = ShingleCounts(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._counts.__exit__(*error)

    def add(self, text: str) -> None:
        """Add the next text."""
        if hashes := self._shingles(canonical_text(text)):
            self._counts.add(hashes)

    def count(self, progress: Progress | None = None) -> None:
        """Count the documents of every passage. No text can be added afterwards."""
        self._counts.count(progress or no_progress)

    def passages(self, text: str) -> list[RepeatedPassage]:
        """Return the repeated passages of the next text, in its order. They do not overlap."""
        canonical = canonical_text(text)
        hashes = self._shingles(canonical)
        if not hashes:
            return []
        options = self.options
        marks = self._counts.marks(hashes, options.words)
        runs = repeated_runs(marks, options.words, options.documents, options.occurrences == "every")
        return [passage for run in runs if (passage := _passage(canonical, *run))]

    def _shingles(self, canonical: CanonicalText) -> array[int]:
        enough = len(canonical.words) >= self.options.words  # a shorter text would be one shingle
        return shingles(canonical, self.options.words) if enough else array("Q")


def _passage(canonical: CanonicalText, start: int, end: int, count: int) -> RepeatedPassage | None:
    """Return the passage of the words from `start` to `end`; None if nothing is left of it.

    A character that stands for several words, of which some are not repeated, is not in the passage.
    """
    words, offsets = canonical.words, canonical.offsets
    while start < end and _inside_character(words, offsets, start):
        start += 1
    while start < end < len(words) and _inside_character(words, offsets, end):
        end -= 1
    if start == end:
        return None
    return RepeatedPassage(
        *canonical.span(words[start], words[end] if end < len(words) else len(canonical.chars)), count
    )


def _inside_character(words: Sequence[int], offsets: Sequence[int], word: int) -> bool:
    """Return whether a word starts in the middle of the canonical characters of one character of the text."""
    start = words[word]
    return start > 0 and offsets[start] == offsets[start - 1]


def without_passages(text: str, passages: Iterable[tuple[int, ...]]) -> str:
    """Return `text` without `passages`, which begin with their start and end.

    A space replaces one that had no white space on either side.
    """
    parts = []
    done = 0
    for start, end, *_ in passages:
        parts.append(text[done:start])
        if start and end < len(text) and not (text[start - 1].isspace() or text[end].isspace()):
            parts.append(" ")
        done = end
    return "".join((*parts, text[done:]))


def has_words(text: str) -> bool:
    """Return whether a text has any words."""
    return bool(canonical_text(text).words)
