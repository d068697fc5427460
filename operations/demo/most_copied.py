"""Finds the passage that is on the most pages."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from os.path import commonprefix
from typing import NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record


class Copied(NamedTuple):
    """A passage and the pages that have it."""

    text: str  # as the first page has it
    words: int
    pages: list[Record]


class _Run(NamedTuple):
    """A part of a canonical text."""

    text: CanonicalText
    start: int
    end: int


def most_copied(records: Sequence[Record], scheme: Scheme) -> Copied | None:
    """Return the passage on the most pages, the longest of several; None if no fingerprint is on two pages.

    Pages that share a passage share its fingerprints. So take the pages with the most frequent fingerprint, and extend
    it in both directions as far as all of them agree.
    """
    pages = Counter(each for record in records for each in set(record.fingerprints))
    most = max(pages.values(), default=1)
    if most == 1:
        return None
    texts = {record.id: canonical(record.text, scheme, name=record.url) for record in records}
    runs: list[_Run] = []
    for record in records:
        end = 0
        for hash_, position in zip(record.fingerprints, record.positions, strict=True):
            if pages[hash_] == most:
                if position + scheme.k > end:  # or else it is in the last run
                    runs.append(_common_run(hash_, records, texts))
                    end = runs[-1].end
                pages[hash_] = 0
    text, start, end = _in_whole_words(max(runs, key=lambda run: run.end - run.start))
    passage = text.chars[start:end]
    first, last = text.span(start, end)
    words = bisect_left(text.words, end) - bisect_left(text.words, start)
    # More pages may have a short passage: winnowing need not have selected this fingerprint there.
    return Copied(text.text[first:last], words, [each for each in records if passage in texts[each.id].chars])


def _common_run(hash_: int, records: Sequence[Record], texts: dict[str, CanonicalText]) -> _Run:
    """Return the text around a fingerprint that all pages with that fingerprint share, on the first of them."""
    have = [each for each in records if hash_ in each.fingerprints]
    places = [(texts[each.id], each.positions[each.fingerprints.index(hash_)]) for each in have]
    # commonprefix compares any strings character by character, not only paths.
    before = commonprefix([text.chars[:at][::-1] for text, at in places])  # noqa: RUF071
    after = commonprefix([text.chars[at:] for text, at in places])  # noqa: RUF071
    text, at = places[0]
    return _Run(text, at - len(before), at + len(after))


def _in_whole_words(run: _Run) -> _Run:
    """Return the run without cut words at its ends, unless nothing would be left."""
    text, words = run.text, run.text.words
    first = bisect_left(words, run.start)
    last = bisect_right(words, run.end) - 1
    start = words[first] if first < len(words) else run.end
    end = run.end if run.end == len(text.chars) or words[last] == run.end else words[last]
    return _Run(text, start, end) if start < end else run
