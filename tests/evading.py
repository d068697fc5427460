"""Edits a text as somebody would who knows which fingerprints of it are stored."""

from __future__ import annotations

from collections.abc import Collection

from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import TOKEN_SHIFT

OTHER_LETTERS = {False: "xq", True: "XQ"}  # rare ones, and no vowels, which some schemes leave out


def without_fingerprints(text: str, stored: Collection[int], scheme: Scheme) -> tuple[str, int]:
    """Change as few letters as possible so that `text` has no k-gram of `stored`; return it and how many they were.

    The scheme is one of Koala. Letters change until nothing is left: a change can bring back a stored k-gram.
    """
    letters, edits = list(text), 0
    while True:
        canon = canonical("".join(letters), scheme)
        grams = kgram_hashes(canon.chars, scheme.k, scheme.seed)
        found = [start for start, gram in enumerate(grams) if gram >> TOKEN_SHIFT in stored]
        if not found:
            return "".join(letters), edits
        reached = -1  # the last letter that was changed: k-grams up to here are gone
        for start in found:
            if start > reached:
                reached = start + scheme.k - 1
                at, _ = canon.span(reached, reached + 1)
                other = OTHER_LETTERS[letters[at].isupper()]
                letters[at] = other[letters[at] == other[0]]
                edits += 1
