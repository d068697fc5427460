"""Computes the fingerprints of a text."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import stored_fingerprints


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The k-grams of a text that winnowing keeps, in the order of the text."""

    hashes: array[int]  # 'Q'
    positions: array[int]  # 'I', offsets in the canonical text
    scheme: Scheme
    canonical: CanonicalText = field(repr=False)

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each k-gram in the text itself, in code points."""
        return self.canonical.spans(self.positions, self.scheme.k)


def fingerprint(text: str, scheme: Scheme = Scheme(), *, name: str | None = None) -> Fingerprints:
    """Return the fingerprints of `text`. `name` is its path or URL, which tells the language of code.

    A text with fewer canonical characters than the noise threshold has no fingerprint. One with fewer than the
    guarantee threshold has one, so that an equal text is still found. The result takes about seven bytes of memory for
    each ASCII character, spans included.
    """
    scheme = with_key(scheme)
    compared = canonical(text, scheme, name=name)
    hashes, positions = stored_fingerprints(compared.chars, scheme)
    return Fingerprints(hashes, positions, scheme, compared)
