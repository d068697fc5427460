"""Selects the fingerprints of a text: those that are stored, and those that are looked up."""

from __future__ import annotations

from array import array

from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.rare_grams import rare_grams
from opensearch_winnow.foundation.scheme import KOALA, Scheme

TOKEN_SHIFT = 32  # a token of Koala is the upper half of the hash of its k-gram


def stored_fingerprints(chars: str, scheme: Scheme) -> tuple[array[int], array[int]]:
    """Return the hashes ('Q') and positions ('I') that a page is found by, in the order of the canonical text."""
    if scheme.selection != KOALA:
        return fingerprints(chars, scheme.k, scheme.w, scheme.selection, scheme.seed)
    return _in_text_order(*rare_grams(chars, scheme.k, scheme.stored, scheme.seed))


def searched_fingerprints(chars: str, scheme: Scheme) -> array[int]:
    """Return the larger fingerprint of a question in a scheme of Koala, in the order of the canonical text."""
    hashes, _ = _in_text_order(*rare_grams(chars, scheme.k, scheme.searched, scheme.seed))
    return hashes


def token_of(kgram: int) -> int:
    """Return the fingerprint that a k-gram with this hash would have in a scheme of Koala."""
    return kgram >> TOKEN_SHIFT


def _in_text_order(hashes: array[int], positions: array[int]) -> tuple[array[int], array[int]]:
    order = sorted(range(len(positions)), key=positions.__getitem__)
    return array("Q", map(hashes.__getitem__, order)), array("I", map(positions.__getitem__, order))
