"""Computes all hashes of a text: fingerprints, sketches and digests."""

from __future__ import annotations

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct, mod_sketch
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest, digest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import stored_fingerprints
from opensearch_winnow.mappings.record import NO_HASHES, Hashes


def hashes_of(text: str, scheme: Scheme, name: str | None = None) -> Hashes:
    """Compute the hashes of `text`. `name` is its path or URL, which tells the language of code."""
    if not text:
        return NO_HASHES
    canon = canonical(text, scheme, name=name)
    return canonical_hashes(canon, canonical_digest(canon), scheme)


def canonical_hashes(canon: CanonicalText, text_digest: str, scheme: Scheme, epoch: int = 0) -> Hashes:
    """Compute the hashes of a canonical text whose digest is known. The `epoch` matters if a part is stored."""
    selected, positions = stored_fingerprints(canon.chars, scheme, epoch)
    shingle_set = distinct(shingles(canon, scheme.shingle, scheme.seed))
    signature = minhash(shingle_set, scheme.bins)
    return Hashes(
        text_digest=text_digest,
        shingle_digest=digest(shingle_set),
        fingerprints=selected,
        positions=positions,
        shingle_count=len(shingle_set),
        sketch=mod_sketch(shingle_set, scheme.modulus),
        minhash=pack(signature, scheme.bits),
        bands=bands(signature, scheme.bands, scheme.rows),
    )
