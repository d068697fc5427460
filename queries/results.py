"""What a search finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from opensearch_winnow.mappings.card import Card

Way = Literal["signature", "cluster", "both"]
FacetName = Literal["site", "crawl", "month", "year"]


class Member(NamedTuple):
    """A page of a group, and how it compares with the page that is shown for it."""

    id: str
    url: str
    site: str
    crawl: str
    fetched_at: datetime | None
    score: float
    resemblance: float
    kind: Literal["exact", "estimate"]
    error: float  # the standard error of the resemblance; 0 where it is exact


class Result(NamedTuple):
    """A page that has the words, and the pages that are folded into it, the best first."""

    card: Card
    score: float  # higher is better; comparable within one search only
    snippet: str  # of its text, around the words
    marks: list[tuple[int, int]]  # where the words are: (start, end) in the snippet
    title_marks: list[tuple[int, int]]  # and in the title
    members: list[Member]


class Folded(NamedTuple):
    """A page, found late, of a group that was shown on a page before."""

    url: str  # of the page that was shown
    member: Member


class FacetCount(NamedTuple):
    """How many pages have a value of a field, and how many groups have such a page.

    By signature, groups are counted among the pages that were examined: there are at least so many, and exactly where
    the number of all groups is exact. With clusters it is these that are counted, of all pages: about so many.
    """

    value: str  # empty: unknown
    pages: int
    groups: int | None  # None: not grouped


class GroupCount(NamedTuple):
    """How many groups there are, as far as that is known."""

    groups: int | None = None  # exactly; None where that is not known, or nothing was grouped
    at_least: int = 0
    at_most: int = 0
    about: int | None = None  # where the engine has estimated them


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search has found: pages, or with groups the best page of each, the best first."""

    total: int  # pages
    hits: list[Result]
    groups: int | None = None  # as in GroupCount
    at_least: int = 0
    at_most: int = 0
    about: int | None = None
    examined: int = 0  # pages, or with clusters the first page of each
    folded: list[Folded] = field(default_factory=list)  # pages of groups that came before this page of results
    cursor: str | None = None  # what the next page of results is asked with, of the same view; None at the end
    facets: dict[str, list[FacetCount]] = field(default_factory=dict)
    threshold: float | None = None  # None: not grouped
    by: Way | None = None
