"""Defines boilerplate, text that is no evidence of copying, and excludes it from comparisons."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from types import UnionType
from typing import Any, NamedTuple, Self

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.overlap import difference, matching_runs
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, inlined, key, listed
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import tokens_of
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.spans import merged_spans

MAX_BEGINNING_CHARS = 100


class BoilerplateError(WinnowError):
    """Boilerplate that does not exist, or cannot be read."""


@answer
class Boilerplate(Answer):
    """A text that is no evidence of copying: on all pages, or as a template on the pages of one `site`."""

    name: str = key("Its name; for code, the name of its file, which decides the language.")
    text: str
    site: str | None = key("The host on whose pages it is boilerplate, in lower case; null for all.", default=None)
    learned: bool = key("True if it was learned from the pages of the site.", default=False)
    url: str | None = None  # of the page that it was taken from, with which it is deleted

    @property
    @derived
    def words(self) -> int:
        """The number of words."""
        return len(canonical_text(self.text).words)

    @property
    @derived
    def beginning(self) -> str:
        """The beginning of the text."""
        return self.text[:MAX_BEGINNING_CHARS].strip()

    def as_document(self) -> dict[str, Any]:
        """Return its fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Make it from the values that `as_document` returns. Invalid values raise a BoilerplateError."""
        kinds: dict[str, type | UnionType] = {"name": str, "text": str, "site": str | None, "learned": bool}
        if not isinstance(document, dict) or document.keys() - {"url"} != kinds.keys():
            raise BoilerplateError(f"not boilerplate: it needs {', '.join(kinds)}, but this is {_shortened(document)}")
        for name, kind in (kinds | {"url": str | None}).items():
            if not isinstance(document.get(name), kind):
                raise BoilerplateError(f"not boilerplate: its {name} is {_shortened(document[name])}")
        return cls(**document)


@answer
class BoilerplateText(Answer):
    """Boilerplate, and its whole text."""

    boilerplate: Boilerplate = inlined()
    text: str = key("The text.")


@answer
class BoilerplateList(Listing[Boilerplate]):
    """Boilerplate, by name."""

    boilerplate: list[Boilerplate] = listed("The boilerplate, by name.")


class ExcludedHashes(NamedTuple):
    """All hashes of boilerplate texts, not a selection: sorted, without repeats."""

    shingles: array[int] = array("Q")
    kgrams: array[int] = array("Q")
    tokens: array[int] = array("Q")  # the fingerprints that the k-grams would have


class Exclusions:
    """The hashes of boilerplate, which do not count in comparisons.

    Boilerplate without a site never counts, as base code in MOSS. The template of a site does not count between two
    pages of that site. Between pages of different sites, all shared text counts: otherwise a site that puts another
    site's article on each of its pages would hide the copies. Only the part of a page's own template that the other
    page lacks is left out: the other page is not expected to have it.

    Templates are hashed when they are first needed.
    """

    def __init__(self, boilerplate: Iterable[Boilerplate] = (), scheme: Scheme = Scheme()) -> None:
        self._scheme = scheme
        self._by_site: dict[str, list[Boilerplate]] = {}
        everywhere = []
        for each in boilerplate:
            if each.site is None:
                everywhere.append(each)
            else:
                self._by_site.setdefault(each.site, []).append(each)
        self._everywhere = self._hashed(everywhere)
        self._templates: dict[str, ExcludedHashes] = {}

    def __bool__(self) -> bool:
        return bool(self._everywhere.shingles or self._by_site)

    def has_template(self, site: str | None) -> bool:
        """Return whether a template of this site is left out between some pages."""
        return site in self._by_site

    def evidence(self, fingerprints: array[int]) -> array[int]:
        """Return the fingerprints of a question, in order, without the boilerplate of all pages."""
        evidence = array("Q")
        end = 0
        for start, after in matching_runs(fingerprints, self._everywhere.tokens):
            evidence += fingerprints[end:start]
            end = after
        return evidence + fingerprints[end:]

    def sketch_evidence(self, page: Sketches) -> Sketches:
        """Return the sketches of a page without the boilerplate of all pages.

        The MinHash is dropped: nothing can be taken out of it.
        """
        return page._replace(sketch=self.evidence_of_page(page.sketch), minhash=b"") if self else page

    def evidence_of_page(self, shingles: array[int], site: str | None = None) -> array[int]:
        """Return a page's shingles without the boilerplate of all pages and, with `site`, the template of this site."""
        return _without(_without(shingles, self._everywhere.shingles), self._template(site).shingles)

    def evidence_of_pair(
        self, ours: array[int], theirs: array[int], sites: tuple[str | None, str | None] = (None, None)
    ) -> tuple[array[int], array[int]]:
        """Return the shingles or MOD_m sketches of two pages of these `sites` without boilerplate, sorted."""
        if not self:
            return ours, theirs
        if sites[0] == sites[1]:
            return self.evidence_of_page(ours, sites[0]), self.evidence_of_page(theirs, sites[0])
        ours, theirs = self.evidence_of_page(ours), self.evidence_of_page(theirs)
        one, other = (self._template(site).shingles for site in sites)
        # Text that the other page has is not left out with a template: shared text stays on both sides.
        return _without(ours, _without(one, theirs)), _without(theirs, _without(other, ours))

    def spans(self, chars: str, site: str | None = None) -> list[tuple[int, int]]:
        """Return the spans of boilerplate in canonical characters: disjoint pairs (start, end), in order.

        A character is boilerplate if one of its k-grams is, so no span is shorter than k. `site` is the site of both
        pages that share these characters; None if their sites differ.
        """
        if not self:
            return []
        k = self._scheme.k
        grams = kgram_hashes(chars, k, self._scheme.seed)
        return merged_spans(
            (start, end + k - 1)
            for each in (self._everywhere, self._template(site))
            for start, end in matching_runs(grams, each.kgrams)
        )

    def _template(self, site: str | None) -> ExcludedHashes:
        if site is None or site not in self._by_site:
            return ExcludedHashes()
        if site not in self._templates:
            self._templates[site] = self._hashed(self._by_site[site])
        return self._templates[site]

    def _hashed(self, boilerplate: Sequence[Boilerplate]) -> ExcludedHashes:
        scheme = self._scheme
        all_shingles, kgrams = array("Q"), array("Q")
        for each in boilerplate:
            text = canonical(each.text, scheme, name=each.name)
            all_shingles += shingles(text, scheme.shingle, scheme.seed)
            kgrams += kgram_hashes(text.chars, scheme.k, scheme.seed)
        grams = distinct(kgrams)
        return ExcludedHashes(distinct(all_shingles), grams, distinct(tokens_of(grams, scheme)))


NO_EXCLUSIONS = Exclusions()


def _without(values: array[int], excluded: array[int]) -> array[int]:
    """Return `values` without those `excluded`; not a copy if there are none, since a question may be long."""
    return difference(values, excluded) if values and excluded else values


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
