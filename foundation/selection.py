"""Selects the fingerprints of a text to store and to look up."""

from __future__ import annotations

from array import array

from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.rare_grams import rare_grams
from opensearch_winnow.foundation.scheme import Scheme

TOKEN_SHIFT = 32  # a token of Koala is the upper half of the hash of its k-gram


def stored_fingerprints(chars: str, scheme: Scheme, epoch: int = 0) -> tuple[array[int], array[int]]:
    """Return the hashes ('Q') and positions ('I') that a page is found by, in the order of the canonical text.

    In a scheme that stores a part, as Koala's does, the `epoch` decides which part of the search fingerprint it is.
    """
    if not scheme.stores_part:
        return fingerprints(chars, scheme.k, scheme.w, scheme.selection, scheme.seed)
    hashes, positions = rare_grams(chars, scheme.k, scheme.searched if epoch else scheme.stored, scheme.seed)
    part = _part_of_epoch(len(hashes), scheme.stored, epoch)
    return _in_text_order(hashes[part], positions[part])


def searched_fingerprints(chars: str, scheme: Scheme, window: int, stored: array[int]) -> array[int]:
    """Return the hashes that a question looks up, in the order of its canonical text.

    `stored` are those of a page with this text, and `window` is that of the question.
    """
    if scheme.stores_part:
        return _in_text_order(*rare_grams(chars, scheme.k, scheme.searched, scheme.seed))[0]
    return stored if window == scheme.w else fingerprints(chars, scheme.k, window, "winnow", scheme.seed)[0]


def fingerprints_at(chars: str, positions: array[int], scheme: Scheme) -> array[int]:
    """Return the fingerprints at these positions of a canonical text, as far as it reaches."""
    grams = kgram_hashes(chars, scheme.k, scheme.seed)
    return tokens_of(array("Q", (grams[position] for position in positions if position < len(grams))), scheme)


def tokens_of(kgrams: array[int], scheme: Scheme) -> array[int]:
    """Return the fingerprints that k-grams with these hashes have."""
    return array("Q", (each >> TOKEN_SHIFT for each in kgrams)) if scheme.stores_part else kgrams


def _in_text_order(hashes: array[int], positions: array[int]) -> tuple[array[int], array[int]]:
    order = sorted(range(len(positions)), key=positions.__getitem__)
    return array("Q", map(hashes.__getitem__, order)), array("I", map(positions.__getitem__, order))


def _part_of_epoch(count: int, stored: int, epoch: int) -> slice:
    """Return the slice of `count` ranked fingerprints, the rarest first, that an epoch stores.

    Epoch 0 has the rarest. The epochs after it share out the others evenly, and not block by block: a question that is
    longer than the page has only the rarest of the page's fingerprints. A short page has the least rare in every second
    epoch.
    """
    others = count // stored - 1
    if others < 1:
        return slice(stored) if epoch % 2 == 0 else slice(max(count - stored, 0), count)
    turn = epoch % (others + 1)
    return slice(stored) if turn == 0 else slice(stored + turn - 1, stored + others * stored, others)
