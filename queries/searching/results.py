"""Defines the results of a full-text search: hits, their groups, and counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from opensearch_winnow.mappings.card import Card

GroupBy = Literal["signature", "cluster", "both"]
FacetName = Literal["site", "crawl", "month", "year"]


class Member(NamedTuple):
    """A page of a group, and how it compares with the group's representative."""

    id: str
    url: str
    site: str
    crawl: str
    fetched_at: datetime | None
    score: float
    resemblance: float
    kind: Literal["exact", "estimate"]
    error: float  # the standard error of the resemblance; 0: exact


class Result(NamedTuple):
    """A hit of a search, and the other pages of its group, the best first."""

    card: Card
    score: float  # higher is better; comparable only within one search
    snippet: str  # a part of the text, around the words
    marks: list[tuple[int, int]]  # the words in the snippet, as (start, end)
    title_marks: list[tuple[int, int]]  # the words in the title, as (start, end)
    members: list[Member]

    @property
    def url(self) -> str:
        """The URL of the page."""
        return self.card.url

    @property
    def title(self) -> str | None:
        """The title of the page; None if it has none."""
        return self.card.title


class Folded(NamedTuple):
    """A page, found late, that belongs to a group on an earlier page of results."""

    url: str  # of the group's representative
    member: Member


class FacetCount(NamedTuple):
    """The number of pages with one value of a field, and the number of groups that hold such a page.

    Groups by signature are counted among the examined pages: the number is a lower bound, and exact if the number of
    all groups is. Groups by cluster are counted among all pages: the number is an estimate.
    """

    value: str  # empty: unknown
    pages: int
    groups: int | None  # None: not grouped


@dataclass(frozen=True, slots=True)
class SearchResults:
    """One page of the results of a search, the best first: hits, or with groups the representative of each group."""

    total: int  # pages found
    hits: list[Result]
    groups: int | None = None  # the exact number of groups; None if it is not known, or nothing was grouped
    at_least: int = 0  # groups
    at_most: int = 0  # groups
    about: int | None = None  # an engine's estimate of the number of groups; None if it did not estimate
    examined: int = 0  # pages that were grouped; with clusters, the first page of each
    folded: list[Folded] = field(default_factory=list)  # members of groups on earlier pages of results
    cursor: str | None = None  # pass it to `search` for the next page of results; None at the end
    facets: dict[str, list[FacetCount]] = field(default_factory=dict)
    threshold: float | None = None  # None: not grouped
    by: GroupBy | None = None  # what the groups were made by; None: not grouped
