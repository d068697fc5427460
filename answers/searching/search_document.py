"""The results of a search, as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict

from opensearch_winnow.answers.formatting import time_stamp
from opensearch_winnow.index import Index
from opensearch_winnow.queries.searching.results import GroupBy, Member, Result, SearchResults


class MemberDocument(TypedDict):
    """A page grouped with a hit, and its resemblance to the hit."""

    id: str
    url: str
    title: str | None
    site: str
    crawl: str
    fetched_at: str | None
    score: float
    resemblance: float
    kind: Literal["exact", "estimate"]
    error: float


class HitDocument(TypedDict):
    """A page that has the words. `marks` and `title_marks` are their offsets in `snippet` and `title`.

    `members` are the URLs of the other pages of its group, and `member_pages` tells more about these.
    """

    id: str
    url: str
    title: str | None
    site: str
    fetched_at: str | None
    score: float
    snippet: str
    marks: list[tuple[int, int]]
    title_marks: list[tuple[int, int]]
    cluster: str
    members: list[str]
    member_pages: list[MemberDocument]


class FacetDocument(TypedDict):
    value: str
    pages: int
    groups: int | None


class FoldedDocument(TypedDict):
    """A page that belongs to the group of a hit on an earlier page of results."""

    url: str
    member: MemberDocument


class SearchDocument(TypedDict):
    """`groups` is null if it is not known exactly; it is then between `groups_at_least` and `groups_at_most`."""

    total: int
    groups: int | None
    groups_at_least: int
    groups_at_most: int
    groups_about: int | None
    examined: int
    seconds: float
    by: GroupBy | None
    threshold: float | None
    cursor: str | None
    facets: dict[str, list[FacetDocument]]
    folded: list[FoldedDocument]
    hits: list[HitDocument]


def search_document(
    results: SearchResults, seconds: float, titles: Mapping[str, str | None] | None = None
) -> SearchDocument:
    """Convert results. `titles` are those of the grouped pages, by id: see `member_titles`."""
    titles = titles or {}
    return {
        "total": results.total,
        "groups": results.groups,
        "groups_at_least": results.at_least,
        "groups_at_most": results.at_most,
        "groups_about": results.about,
        "examined": results.examined,
        "seconds": round(seconds, 6),
        "by": results.by,
        "threshold": results.threshold,
        "cursor": results.cursor,
        "facets": {
            name: [{"value": each.value, "pages": each.pages, "groups": each.groups} for each in counts]
            for name, counts in results.facets.items()
        },
        "folded": [{"url": each.url, "member": _member(each.member, titles)} for each in results.folded],
        "hits": [_hit(hit, titles) for hit in results.hits],
    }


def member_titles(index: Index, results: SearchResults) -> dict[str, str | None]:
    """Read the titles of all pages that are grouped with a hit."""
    members = [*(member for hit in results.hits for member in hit.members), *(each.member for each in results.folded)]
    return {card.id: card.title for card in index.cards(ids=[member.id for member in members])}


def _hit(hit: Result, titles: Mapping[str, str | None]) -> HitDocument:
    return {
        "id": hit.card.id,
        "url": hit.card.url,
        "title": hit.card.title,
        "site": hit.card.site,
        "fetched_at": time_stamp(hit.card),
        "score": hit.score,
        "snippet": hit.snippet,
        "marks": hit.marks,
        "title_marks": hit.title_marks,
        "cluster": hit.card.cluster,
        "members": [member.url for member in hit.members],
        "member_pages": [_member(member, titles) for member in hit.members],
    }


def _member(member: Member, titles: Mapping[str, str | None]) -> MemberDocument:
    return {
        "id": member.id,
        "url": member.url,
        "title": titles.get(member.id),
        "site": member.site,
        "crawl": member.crawl,
        "fetched_at": time_stamp(member),
        "score": member.score,
        "resemblance": member.resemblance,
        "kind": member.kind,
        "error": member.error,
    }
