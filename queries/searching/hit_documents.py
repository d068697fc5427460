"""Reads sketches and texts from the hits of an engine's response, and compares the hits."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import Any, Protocol

from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest
from opensearch_winnow.foundation.document_paths import text_at, value_at
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparer, Side, side
from opensearch_winnow.queries.scores import NO_SKETCHES, Sketches
from opensearch_winnow.queries.searching.representatives import Similarity

Hit = dict[str, Any]


class HitTexts(Protocol):
    """Reads the text that was fingerprinted from a hit."""

    @property
    def paths(self) -> Sequence[str]:
        """The fields to read; empty if there are no texts."""
        ...

    def text(self, hit: Hit) -> str | None:
        """Return the text of a hit; None if the response does not have it."""
        ...

    def name(self, hit: Hit) -> str | None:
        """Return the hit's URL, which tells the language of code."""
        ...


class FieldTexts:
    """Reads texts from named fields, and joins them by line breaks."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = fields
        self.paths = [*fields, "url"] if fields else []

    def text(self, hit: Hit) -> str | None:
        texts = [text_at(_part(hit, name), [name]) for name in self._fields if _value(hit, name) is not None]
        return "\n".join(filter(None, texts)) if texts else None

    def name(self, hit: Hit) -> str | None:
        url = _value(hit, "url")
        return url if isinstance(url, str) else None


class HitDocuments:
    """Hits with their sketches and texts, numbered from 0 in the order in which they are added.

    `prefix` is the path of the fields, with its final dot. If the stored digest shows that the fields were made from
    another text than the hit's, its sketches are made from its text.
    """

    def __init__(self, scheme: Scheme, prefix: str, texts: HitTexts) -> None:
        self.hits: list[Hit] = []
        self.sketched: list[Sketches] = []
        self._scheme = scheme
        self._comparer = Comparer(scheme)
        self._prefix = prefix
        self._texts = texts
        self._sides: dict[int, Side | None] = {}

    @property
    def without_fields(self) -> int:
        """The number of hits without winnow's fields, which resemble no other hit."""
        return sum(each is NO_SKETCHES for each in self.sketched)

    def add(self, hit: Hit, document: Hit | None = None) -> int:
        """Add a hit and return its number, by which the other methods know it.

        `document` is the same hit with its text and digest, if these were read separately.
        """
        number = len(self.hits)
        self.hits.append(hit)
        self.sketched.append(self._stored_sketches(hit))
        document = document or hit
        if self._is_stale(document):
            text, name = self._texts.text(document) or "", self._texts.name(document)
            made = self._sides[number] = side(text, self._scheme, name=name)
            signature = pack(minhash(made.shingles, self._scheme.bins), self._scheme.bits)
            self.sketched[number] = Sketches(len(made.shingles), NO_SKETCHES.sketch, signature)
        return number

    def read_text(self, number: int, hit: Hit) -> None:
        """Take the text of a hit from another response, if it is the text that was fingerprinted."""
        text = self._texts.text(hit)
        made = None if text is None else side(text, self._scheme, name=self._texts.name(hit))
        if made and len(made.shingles) != self.sketched[number].shingle_count:
            made = None  # another text, or not all of it
        self._sides[number] = made

    def similarity(self, one: int, other: int) -> Similarity:
        """Compare two hits: exactly if both texts are known, otherwise by an estimate."""
        (exact,) = self.resemblances([(one, other)])
        if exact is not None:
            return Similarity(exact, 0.0)
        return Similarity(*self._comparer.estimate(self.sketched[one], self.sketched[other]).resemblance)

    def resemblances(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Return the exact resemblance of each pair of numbers; None where a text is missing."""
        both = [(self._side(one), self._side(other)) for one, other in pairs]
        return [self._comparer.scores(one, other).resemblance if one and other else None for one, other in both]

    def _stored_sketches(self, hit: Hit) -> Sketches:
        count, packed = (_value(hit, f"{self._prefix}{name}") for name in ("shingle_count", "minhash"))
        if not isinstance(count, int) or not 0 <= count < 2**32 or not isinstance(packed, str):
            return NO_SKETCHES  # the fields are missing, or another program's
        try:
            signature = b64decode(packed + "=" * (-len(packed) % 4), validate=True)  # doc values come without padding
        except ValueError:
            return NO_SKETCHES
        expected = self._scheme.bins * self._scheme.bits // 8
        if len(signature) not in (0, expected):
            raise QuestionError(
                f"the hit {hit.get('_id')} has a MinHash of {len(signature)} bytes, but scheme {self._scheme.id} makes"
                f" {expected}: pass the scheme of these documents (scheme=…)"
            )
        return Sketches(count, NO_SKETCHES.sketch, signature)

    def _is_stale(self, hit: Hit) -> bool:
        """Return whether the hit has its text and a digest of another text."""
        text, digest = self._texts.text(hit), _value(hit, f"{self._prefix}text_digest")
        if text is None or not isinstance(digest, str):
            return False
        name = self._texts.name(hit)
        if self._scheme.form == "code" and name is None:
            return False  # the hashes of code depend on a name, which only a hit with a URL has
        return digest != (canonical_digest(canonical(text, self._scheme, name=name)) if text else "")

    def _side(self, number: int) -> Side | None:
        if number not in self._sides:
            self.read_text(number, self.hits[number])
        return self._sides[number]


def _value(hit: Hit, name: str) -> Any:
    return value_at(_part(hit, name), name)


def _part(hit: Hit, name: str) -> Any:
    """Return the part of a hit that has a value of this field: `_source`, or else `fields`.

    `_source` comes first, because doc values of a list are sorted and without repeats.
    """
    source = hit.get("_source")
    return hit.get("fields") if value_at(source, name) is None else source
