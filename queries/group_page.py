"""Defines a page of groups, the request it answers, and the cursor that leads to the next page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.cursor_text import not_a_cursor, packed_cursor, unpacked_cursor
from opensearch_winnow.queries.hit_documents import Hit
from opensearch_winnow.queries.hit_groups import HitGroup, HitMember, ListOfGroups
from opensearch_winnow.queries.search_request import MAX_HITS_PER_PAGE

# Options of a search that cannot be grouped page by page, and what to do instead.
REFUSED_OPTIONS = {
    "collapse": "it would hide hits before they are grouped; remove it",
    "from": "cursors lead from page to page; remove it",
    "pit": "search_groups makes its own point in time; remove it",
    "profile": "there are several requests; remove it",
    "rescore": "engines rescore the first hits only, and do not sort them; remove it",
    "search_after": "cursors lead from page to page; remove it",
    "search_pipeline": "it might change the hits before they are grouped; remove it",
    "size": "limit is the number of groups on a page; remove it",
    "slice": "other slices have copies of the same documents; remove it",
    "suggest": "suggestions have no groups; search for them separately",
    "terminate_after": "the engine would leave out hits; remove it",
}


class FoldedHit(NamedTuple):
    """A hit, found late, that belongs to a group on an earlier page."""

    hit: Hit  # the representative of the group, with its `_index` and `_id`, and without its document
    member: HitMember


@dataclass(frozen=True, slots=True)
class GroupPage(ListOfGroups):
    """One page of the groups of a search. Behaves like a list of groups.

    The representative of a group is as the search asks for it. Members have `_index`, `_id`, `_score` and the
    `docvalue_fields` of the search, but no document.
    """

    groups: list[HitGroup]
    folded: list[FoldedHit]  # members of groups on earlier pages that were found since
    total: int | None  # documents that match the query; None if the engine has not counted all
    count: int | None  # groups among them; None until all of them have been examined
    at_least: int  # groups
    at_most: int | None  # groups; None if the total is not known
    examined: int  # documents that were grouped, on this page and the earlier ones
    without_fields: int  # of these, documents without our fields; if these are all, check `below`
    aggregations: dict[str, Any]  # of all documents that match the query; on the first page only
    cursor: str | None  # leads to the next page; None at the end


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRequest:
    """The parameters of a search in groups, apart from the scheme: its key is a secret, and a cursor is not."""

    index: str
    body: dict[str, Any]
    threshold: float
    below: str
    text: tuple[str, ...]
    examine: int
    limit: int
    keep_alive: str

    def __post_init__(self) -> None:
        for name, reason in REFUSED_OPTIONS.items():
            if name in self.body:
                raise QuestionError(f"a search with {name} cannot be grouped page by page: {reason}")
        if self.body.get("stored_fields") in ("_none_", ["_none_"]):
            raise QuestionError("a search without ids cannot be grouped: remove stored_fields, _source=False is enough")
        if not 0 < self.threshold <= 1:
            raise QuestionError(f"the threshold of a group is above 0 and at most 1, not {self.threshold:g}")
        if not 1 <= self.limit <= MAX_HITS_PER_PAGE:
            raise QuestionError(f"a page has 1 to {MAX_HITS_PER_PAGE:,} groups, not {self.limit}")
        if self.examine < 1:
            raise QuestionError(f"the number of hits to examine is at least 1, not {self.examine}")


@dataclass(frozen=True, slots=True)
class GroupCursor:
    """Where a search in groups continues."""

    request: GroupRequest
    scheme_id: str
    point: str  # the id of the point in time
    shown: int = 0  # groups on the pages so far
    examined: int = 0  # hits
    total: int | None = None  # hits, if the engine has counted them

    def __str__(self) -> str:
        return packed_cursor([asdict(self.request), self.scheme_id, self.point, self.shown, self.examined, self.total])

    @classmethod
    def of(cls, written: str) -> Self:
        """Parse a cursor from its `str`. Any other text raises a QuestionError."""
        content = unpacked_cursor(written)
        try:
            request, scheme_id, point, shown, examined, total = content
            made = GroupRequest(**request | {"text": tuple(request["text"])})
            texts = (made.index, made.below, made.keep_alive, *made.text, scheme_id, point)
            numbers = (shown, examined, 0 if total is None else total)
            if not all(isinstance(each, str) for each in texts):
                raise TypeError
            if any(type(each) is not int or each < 0 for each in numbers):
                raise TypeError
            return cls(made, scheme_id, point, shown, examined, total)
        except (KeyError, ValueError, TypeError, AttributeError, QuestionError):
            raise not_a_cursor() from None
