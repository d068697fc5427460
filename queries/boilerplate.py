"""Boilerplate: text that is no evidence of copying, and what of two pages counts without it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.overlap import difference, matching_runs
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.scheme import Scheme

if TYPE_CHECKING:
    from opensearch_winnow.queries.estimated import Sketched


class BoilerplateError(WinnowError):
    """Boilerplate that cannot be read, or is not there."""


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """A text with a name. Without a site it is boilerplate everywhere; else it is the template of that site."""

    name: str  # for code: that of its file, which tells the language
    text: str
    site: str | None = None  # the host, in lower case
    learned: bool = False  # from the pages of the site

    def as_document(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """From the values that `as_document` gives; others are refused."""
        kinds: dict[str, type | UnionType] = {"name": str, "text": str, "site": str | None, "learned": bool}
        if not isinstance(document, dict) or document.keys() != kinds.keys():
            raise BoilerplateError(f"no boilerplate: it has {', '.join(kinds)}, and this is {_shortened(document)}")
        for name, kind in kinds.items():
            if not isinstance(document[name], kind):
                raise BoilerplateError(f"no boilerplate: its {name} is {_shortened(document[name])}")
        return cls(**document)


class Hashes(NamedTuple):
    """All of a text, and not a selection: each sorted and without repeats."""

    shingles: array[int] = array("Q")
    kgrams: array[int] = array("Q")


class Exclusions:
    """What does not count, hashed once for many questions; the templates of sites as they are asked for.

    A text that is registered for everywhere counts for nothing, as base code does in MOSS. The template of a site
    counts for nothing between two pages of that site. Between pages of different sites all that they share counts, or
    else a site that puts another's article on each of its pages would hide the copies; what a page has of its own
    template, and the other does not, is only not expected of the other.
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
        self._templates: dict[str, Hashes] = {}

    def __bool__(self) -> bool:
        return bool(self._everywhere.shingles or self._by_site)

    def evidence(self, fingerprints: array[int]) -> array[int]:
        """Those of a question, in their order, whose k-gram is in no text that is registered for everywhere."""
        kept = array("Q")
        end = 0
        for start, after in matching_runs(fingerprints, self._everywhere.kgrams):
            kept += fingerprints[end:start]
            end = after
        return kept + fingerprints[end:]

    def sketched(self, page: Sketched) -> Sketched:
        """Without what is registered for everywhere. A MinHash is of no use then: nothing can be taken out of it."""
        return page._replace(sketch=difference(page.sketch, self._everywhere.shingles), minhash=b"") if self else page

    def counted(
        self, ours: array[int], theirs: array[int], sites: tuple[str | None, str | None] = (None, None)
    ) -> tuple[array[int], array[int]]:
        """What counts of the shingles of two pages of these sites, or of their MOD_m sketches: sorted arrays."""
        if not self:
            return ours, theirs
        ours, theirs = (difference(each, self._everywhere.shingles) for each in (ours, theirs))
        one, other = (self._template(site).shingles for site in sites)
        if sites[0] == sites[1]:
            return difference(ours, one), difference(theirs, one)
        # Both are looked at as they are now: what is shared stays on both sides.
        return difference(ours, difference(one, theirs)), difference(theirs, difference(other, ours))

    def places(self, chars: str, site: str | None = None) -> list[tuple[int, int]]:
        """Where there is boilerplate in canonical characters, as (start, end), apart and in order.

        A character is boilerplate if it is in a k-gram that is; no place is shorter than k. `site` is that of both
        pages which share these characters, if it is one.
        """
        if not self:
            return []
        k = self._scheme.k
        grams = kgram_hashes(chars, k, self._scheme.seed)
        found = [
            (start, end + k - 1)
            for each in (self._everywhere, self._template(site))
            for start, end in matching_runs(grams, each.kgrams)
        ]
        return _united(found)

    def _template(self, site: str | None) -> Hashes:
        if site is None or site not in self._by_site:
            return Hashes()
        if site not in self._templates:
            self._templates[site] = self._hashed(self._by_site[site])
        return self._templates[site]

    def _hashed(self, boilerplate: Sequence[Boilerplate]) -> Hashes:
        scheme = self._scheme
        every, grams = array("Q"), array("Q")
        for each in boilerplate:
            text = canonical(each.text, scheme, name=each.name)
            every += shingles(text, scheme.shingle, scheme.seed)
            grams += kgram_hashes(text.chars, scheme.k, scheme.seed)
        return Hashes(distinct(every), distinct(grams))


NOTHING = Exclusions()


def _united(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    united: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def _shortened(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
