"""Compares two pages exactly, as the options of a comparison say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from opensearch_winnow.foundation.option_kinds import FLAG
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.changed_passages import changed_passages
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.compare import ComparedCapture, Comparison, compare
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(Options):
    """The options of a comparison, whatever is compared."""

    boilerplate: bool = option_of(SimilarOptions, "boilerplate")
    differences: bool = option(False, FLAG, "Show the passages that only one text has, instead of the shared ones.")


@dataclass(frozen=True, slots=True)
class TwoPages(CompareOptions):
    """Two pages to compare: each a URL, which stands for its latest capture, the id of a capture, or a record."""

    a: str | Record
    b: str | Record


class ComparableText(Protocol):
    """A text to compare: a record, or the text of a file."""

    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def url(self) -> str | None: ...  # or the path, which decides the language of code
    @property
    def site(self) -> str | None: ...  # None if it is not a capture
    @property
    def fetched_at(self) -> datetime | None: ...


def compare_pages(
    a: ComparableText,
    b: ComparableText,
    scheme: Scheme,
    *,
    boilerplate: Sequence[Boilerplate] = (),
    differences: bool = False,
) -> Comparison:
    """Compare two pages and name their captures; with `differences`, also list the text that only one of them has."""
    found = compare(a.text, b.text, scheme, names=(a.url, b.url), boilerplate=boilerplate, sites=(a.site, b.site))
    removed, added = changed_passages(a.text, b.text, scheme, name=a.url) if differences else (None, None)
    return replace(found, a=_capture(a), b=_capture(b), removed=removed, added=added)


def _capture(page: ComparableText) -> ComparedCapture | None:
    return ComparedCapture(page.id, page.url, page.fetched_at) if page.url and page.site is not None else None
