"""Computes the fingerprints of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.foundation.answers import Listing, answer, derived
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import stored_fingerprints


class Fingerprint(NamedTuple):
    """A k-gram that winnowing keeps, in a table."""

    hash: str  # in 16 hexadecimal digits
    position: int  # in the canonical text
    start: int  # in the text itself, in code points
    end: int
    text: str


@answer
class Fingerprints(Listing[Fingerprint]):
    """The k-grams of a text that winnowing keeps, in the order of the text."""

    row = Fingerprint

    hashes: Sequence[int]  # an array of 64 bits each
    positions: Sequence[int]  # an array of offsets in the canonical text
    scheme: Scheme
    canonical: CanonicalText = field(repr=False)

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    @derived(name="scheme")
    def scheme_id(self) -> str:
        """The id of the scheme, with its key."""
        return self.scheme.id

    @property
    @derived
    def fingerprints(self) -> list[tuple[str, int]]:
        """The hash of each k-gram, as a text because many programs round large numbers, and its position in the
        canonical text."""
        return list(zip(map(str, self.hashes), self.positions, strict=True))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each k-gram in the text itself, in code points."""
        return self.canonical.spans(self.positions, self.scheme.k)

    @property
    def _entries(self) -> Sequence[Fingerprint]:
        text = self.canonical.text
        return [
            Fingerprint(f"{hash_:016x}", position, start, end, text[start:end])
            for hash_, position, (start, end) in zip(self.hashes, self.positions, self.spans, strict=True)
        ]


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
