"""Reads sketches and texts from the hits of an engine's response, and compares the hits."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Side, scores, side
from opensearch_winnow.queries.estimates import NO_SKETCHES, Sketches, estimate_scores
from opensearch_winnow.queries.representatives import Similarity

Hit = dict[str, Any]


class HitDocuments:
    """Hits in the order they were added, with their sketches and texts.

    `prefix` is the path of the fields, with its final dot; `text` is the name of the text field.
    """

    def __init__(self, scheme: Scheme, prefix: str, text: str) -> None:
        self.hits: list[Hit] = []
        self.sketched: list[Sketches] = []
        self._scheme = scheme
        self._prefix = prefix
        self._text = text
        self._sides: dict[int, Side | None] = {}

    def add(self, hit: Hit) -> int:
        """Add a hit and return its place, by which the other methods know it."""
        self.hits.append(hit)
        self.sketched.append(self._sketched(hit))
        return len(self.hits) - 1

    def similarity(self, one: int, other: int) -> Similarity:
        """Compare two hits: exactly where both texts are there, else by an estimate."""
        (exact,) = self.resemblances([(one, other)])
        if exact is not None:
            return Similarity(exact, 0.0)
        return Similarity(*estimate_scores(self.sketched[one], self.sketched[other], self._scheme).resemblance)

    def resemblances(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Return the exact resemblance of each pair of places; None where a text is missing."""
        both = [(self._side(one), self._side(other)) for one, other in pairs]
        return [scores(one, other).resemblance if one and other else None for one, other in both]

    def _sketched(self, hit: Hit) -> Sketches:
        count, packed = (_value(hit, f"{self._prefix}{name}") for name in ("shingle_count", "minhash"))
        if not isinstance(count, int) or not 0 <= count < 2**32 or not isinstance(packed, str):
            return NO_SKETCHES  # the fields are missing, or another program's
        try:
            minhash = b64decode(packed + "=" * (-len(packed) % 4), validate=True)  # doc values come without padding
        except ValueError:
            return NO_SKETCHES
        expected = self._scheme.bins * self._scheme.bits // 8
        if len(minhash) not in (0, expected):
            raise QuestionError(
                f"the hit {hit.get('_id')} has a MinHash of {len(minhash)} bytes, but scheme {self._scheme.id} makes"
                f" {expected}: pass the scheme of these documents (scheme=…)"
            )
        return Sketches(count, NO_SKETCHES.sketch, minhash)

    def _side(self, place: int) -> Side | None:
        if place not in self._sides:
            hit = self.hits[place]
            text, url = _value(hit, self._text), _value(hit, "url")
            made = None
            if isinstance(text, str):
                made = side(text, self._scheme, name=url if isinstance(url, str) else None)
                if len(made.shingles) != self.sketched[place].shingle_count:
                    made = None  # not the text that was fingerprinted, or not all of it
            self._sides[place] = made
        return self._sides[place]


def _value(hit: Hit, name: str) -> Any:
    """Return a field's value, from `fields` or from `_source`, where a key may be a whole path with dots."""
    values = hit.get("fields", {}).get(name)
    if values:
        return values[0]
    found = hit.get("_source") or {}
    if name in found:
        return found[name]
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
