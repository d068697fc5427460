"""Selects the fingerprints of a text: those that are stored, and those that are looked up."""

from __future__ import annotations

from array import array

from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.rare_grams import rare_grams
from opensearch_winnow.foundation.scheme import KOALA, Scheme

TOKEN_SHIFT = 32  # a token of Koala is the upper half of the hash of its k-gram


def stored_fingerprints(chars: str, scheme: Scheme, epoch: int = 0) -> tuple[array[int], array[int]]:
    """Return the hashes ('Q') and positions ('I') that a page is found by, in the order of the canonical text.

    In a scheme of Koala, the `epoch` decides which part of the search fingerprint is stored.
    """
    if scheme.selection != KOALA:
        return fingerprints(chars, scheme.k, scheme.w, scheme.selection, scheme.seed)
    hashes, positions = rare_grams(chars, scheme.k, scheme.searched if epoch else scheme.stored, scheme.seed)
    part = _part_of_epoch(len(hashes), scheme.stored, epoch)
    return _in_text_order(hashes[part], positions[part])


def searched_fingerprints(chars: str, scheme: Scheme) -> array[int]:
    """Return the larger fingerprint of a question in a scheme of Koala, in the order of the canonical text."""
    hashes, _ = _in_text_order(*rare_grams(chars, scheme.k, scheme.searched, scheme.seed))
    return hashes


def fingerprints_at(chars: str, positions: array[int], scheme: Scheme) -> array[int]:
    """Return the fingerprints of a scheme of Koala at these positions of a canonical text, as far as it reaches."""
    grams = kgram_hashes(chars, scheme.k, scheme.seed)
    return array("Q", (token_of(grams[position]) for position in positions if position < len(grams)))


def token_of(kgram: int) -> int:
    """Return the fingerprint that a k-gram with this hash would have in a scheme of Koala."""
    return kgram >> TOKEN_SHIFT


def _in_text_order(hashes: array[int], positions: array[int]) -> tuple[array[int], array[int]]:
    order = sorted(range(len(positions)), key=positions.__getitem__)
    return array("Q", map(hashes.__getitem__, order)), array("I", map(positions.__getitem__, order))


def _part_of_epoch(count: int, stored: int, epoch: int) -> slice:
    """Return which of `count` ranked fingerprints, the rarest first, are stored in an epoch.

    Epoch 0 has the rarest. The epochs after it share out the others evenly, and not block by block: a question that is
    longer than the page has only the rarest of the page's fingerprints. A short page has the least rare in every second
    epoch.
    """
    others = count // stored - 1
    if others < 1:
        return slice(stored) if epoch % 2 == 0 else slice(max(count - stored, 0), count)
    turn = epoch % (others + 1)
    return slice(stored) if turn == 0 else slice(stored + turn - 1, stored + others * stored, others)
