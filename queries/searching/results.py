"""Defines the results of a full-text search: hits, their groups, and counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from datetime import datetime
from typing import Literal

from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, inlined, key, listed
from opensearch_winnow.mappings.card import Card

GroupBy = Literal["signature", "cluster", "both"]
FacetName = Literal["site", "crawl", "month", "year"]


@answer
class Member(Answer):
    """A page of a group, and how it compares with the page that is shown for the group."""

    resemblance: float = key("The shared text, as a share of the text of both pages.")
    kind: Literal["exact", "estimate"] = key("exact if it was computed from the texts, otherwise estimate.")
    error: float = key("The standard error of the resemblance; 0: exact, 1: nothing to compare.")
    score: float = key("The relevance of the page; comparable only within one search.")
    fetched_at: datetime | None = key("The time of its capture; null if it is unknown.")
    site: str = key("The host of its URL.")
    crawl: str = key("The crawl that it was indexed with; empty if that has no name.")
    url: str = key("The URL of the page.")
    title: str | None = key("The title of the page; null if it has none.")
    id: str = key("The id of the capture.")


@answer
class Result(Answer):
    """A hit of a search, and the other pages of its group, the best first."""

    card: Card = inlined()
    score: float = key("The relevance of the page: higher is better, within one search.")
    snippet: str = key("A part of the text, around the words.")
    marks: list[tuple[int, int]] = key("The words in the snippet, each as its start and end.")
    title_marks: list[tuple[int, int]] = key("The words in the title, each as its start and end.")
    members: list[Member] = key("The other pages of its group, the best first.", name="member_pages")

    @property
    def id(self) -> str:
        """The id of the capture."""
        return self.card.id

    @property
    def url(self) -> str:
        """The URL of the page."""
        return self.card.url

    @property
    def title(self) -> str | None:
        """The title of the page; None if it has none."""
        return self.card.title

    @property
    def fetched_at(self) -> datetime | None:
        """The time of the capture; None if it is unknown."""
        return self.card.fetched_at

    @property
    @derived
    def cluster(self) -> str:
        """The cluster that was saved for the page; empty if it is in none."""
        return self.card.cluster

    @property
    @derived(name="members")
    def member_urls(self) -> list[str]:
        """The URLs of the other pages of its group, the best first."""
        return [member.url for member in self.members]


@answer
class Folded(Answer):
    """A page, found late, that belongs to a group on an earlier page of results."""

    url: str = key("The URL of the page that is shown for the group.")
    member: Member = key("The page, and how it compares with that one.")


@answer
class FacetCount(Answer):
    """The number of pages with one value of a field, and the number of groups that hold such a page.

    Groups by signature are counted among the examined pages: the number is a lower bound, and exact if the number of
    all groups is. Groups by cluster are counted among all pages: the number is an estimate.
    """

    value: str = key("The value; empty: unknown.")
    pages: int = key("The number of pages that have it.")
    groups: int | None = key("The number of groups with such a page; null if nothing was grouped.")


@answer
class GroupedPage(Answer):
    """A page in a table of results."""

    group: int = key("The number of its group on this page of results, from 1.")
    page: Member = inlined()


@answer
class SearchResults(Listing[Result]):
    """One page of the results of a search, the best first: hits, or with groups the representative of each group."""

    row = GroupedPage

    _: KW_ONLY
    total: int = key("The number of pages that were found.")
    groups: int | None = key(
        "The number of their groups; null if it is not known exactly, or nothing was grouped.", default=None
    )
    at_least: int = key("A lower bound of the number of groups.", name="groups_at_least", default=0)
    at_most: int = key("An upper bound of the number of groups.", name="groups_at_most", default=0)
    about: int | None = key(
        "An engine's estimate of the number of groups; null if it made none.", name="groups_about", default=None
    )
    examined: int = key("The number of pages that were grouped; with clusters, the first page of each.", default=0)
    seconds: float = key("The time it took.", default=0.0)
    by: GroupBy | None = key("The way of grouping; null if nothing was grouped.", default=None)
    min_resemblance: float | None = key(
        "The least resemblance of a page to the best of its group; null if nothing was grouped.", default=None
    )
    cursor: str | None = key("The key to the next page of frozen results; null at the end.", default=None)
    facets: dict[str, list[FacetCount]] = key("The counts of values, by the name of the field.", default_factory=dict)
    folded: list[Folded] = key("The pages of groups on earlier pages of results.", default_factory=list)
    hits: list[Result] = listed("The hits, the best first.")

    def rows(self) -> Iterator[GroupedPage]:
        """Yield each page of each group."""
        for number, hit in enumerate(self.hits, 1):
            card = hit.card
            page = card.fetched_at, card.site, card.crawl, card.url, card.title, card.id
            yield GroupedPage(number, Member(1.0, "exact", 0.0, hit.score, *page))
            for member in hit.members:
                yield GroupedPage(number, member)
