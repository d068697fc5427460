"""Prepares documents for comparison with many others: each file is read into canonical text once."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.cython_core.passages import PassageFinder
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.sets.pairs import Document, FilePart
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions

# Tokens in a shingle with real names. Names tell programs apart, so that fewer do.
NAMED_SHINGLE = 4
FILE_END = "\0"  # between two files; a run that reaches it is split there
# Passages of a few pairs are sought more finely than in a store: each run is found that has 9 characters more than the
# noise threshold. A window of 1 would find the rest, and take eight times as long.
MAX_WINDOW = 10


class FileSpan(NamedTuple):
    """A part of one of the files of a document, in code points."""

    file: int
    start: int
    end: int
    words: int


class PreparedDocument:
    """A document with its shingles, none of which runs across files, and its canonical characters, file after file."""

    def __init__(self, document: Document, scheme: Scheme, exclusions: Exclusions) -> None:
        self.document = document
        self.site = document.site
        self._scheme = scheme
        self._files: list[CanonicalText] = [canonical(file.text, scheme, name=file.name) for file in document.files]
        self._starts = [0, *accumulate(len(file.chars) + len(FILE_END) for file in self._files)][: len(self._files)]
        self.chars = FILE_END.join(file.chars for file in self._files)
        hashes = array("Q")
        for file in self._files:
            hashes += shingles(file, scheme.shingle, scheme.seed)
        self.is_empty = not any(file.chars for file in self._files)
        # Without the boilerplate of all pages. The template of a site is excluded later, for each pair.
        self.shingles = exclusions.evidence_of_page(distinct(hashes))
        self.named_shingles = distinct(self._named_shingles(exclusions)) if scheme.form == "code" else array("Q")

    def _named_shingles(self, exclusions: Exclusions) -> array[int]:
        """Return the hashes of short shingles of tokens with their real names, without those in boilerplate."""
        from opensearch_winnow.foundation.code_tokens import with_real_names  # noqa: PLC0415 (Pygments is slow to import)

        hashes = array("Q")
        for file in self._files:
            found = shingles(with_real_names(file), NAMED_SHINGLE, self._scheme.seed)
            for start, end in reversed(exclusions.spans(file.chars)):
                del found[start : max(end - NAMED_SHINGLE + 1, start)]
            hashes += found
        return hashes

    def hidden_files(self) -> Iterator[str]:
        """Yield the names of programs that an unclosed string or comment hides from some line on."""
        if self._scheme.form == "code":
            from opensearch_winnow.foundation.code_tokens import hides_the_rest  # noqa: PLC0415 (as above)

            for file, program in zip(self.document.files, self._files, strict=True):
                if hides_the_rest(program, file.name):
                    yield file.name

    @property
    def file_ends(self) -> Sequence[int]:
        """The offsets in `chars` where one of its files ends and the next follows."""
        return [start - len(FILE_END) for start in self._starts[1:]]

    @cached_property
    def finder(self) -> PassageFinder:
        """Finds the runs shared with the characters of another document."""
        return PassageFinder(self.chars, self._scheme.k, min(self._scheme.w, MAX_WINDOW), self._scheme.seed)

    def span(self, start: int, end: int) -> FileSpan:
        """Return the span of a run of canonical characters, which is in one file."""
        i = bisect_right(self._starts, start) - 1
        file, before = self._files[i], self._starts[i]
        words = bisect_left(file.words, end - before) - bisect_right(file.words, start - before) + 1
        return FileSpan(i, *file.span(start - before, end - before), words)

    def left_out(self, exclusions: Exclusions) -> tuple[FilePart, ...]:
        """Return the parts of its files that are boilerplate between any two documents."""
        return tuple(FilePart(*self.span(start, end)[:3]) for start, end in exclusions.spans(self.chars, None))
