"""Defines the request of a search, and the cursor: the text that asks for the next page of its results."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self, get_args

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.searching.cursor_text import not_a_cursor, packed_cursor, unpacked_cursor
from opensearch_winnow.queries.searching.representative_rule import RepresentativeRule
from opensearch_winnow.queries.searching.results import FacetName, GroupBy
from opensearch_winnow.queries.words import Words

DEFAULT_THRESHOLD = 0.5  # minimum resemblance of a page to the representative of its group
DEFAULT_EXAMINE = 100  # pages
BEST = "best"
MAX_HITS_PER_PAGE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """The parameters of one search: they decide its results."""

    words: str
    any_word: bool = False
    where: Filters = Filters()
    group: bool = False
    threshold: float = DEFAULT_THRESHOLD
    by: GroupBy = "signature"
    examine: int = DEFAULT_EXAMINE
    exact: bool = False
    limit: int = 10
    facets: tuple[FacetName, ...] = ()
    representative: str = BEST  # the page shown for a group: the best hit, or see `RepresentativeRule`

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise QuestionError(f"a threshold is above 0 and at most 1, not {self.threshold}")
        if self.by not in get_args(GroupBy):
            raise QuestionError(f"results are grouped by {', '.join(get_args(GroupBy))}, not {self.by!r}")
        if not 1 <= self.limit <= MAX_HITS_PER_PAGE:
            raise QuestionError(f"a page of results has 1 to {MAX_HITS_PER_PAGE:,} hits, not {self.limit}")
        if self.examine < 1:
            raise QuestionError(f"the number of hits to examine is at least 1, not {self.examine}")
        if self.representative != BEST:
            RepresentativeRule.of(self.representative, BEST)
        for name in self.facets:
            if name not in get_args(FacetName):
                raise QuestionError(f"there is no facet {name!r}: choose from {', '.join(get_args(FacetName))}")

    @property
    def rule(self) -> RepresentativeRule | None:
        """The rule that chooses the page shown for a group; None if it is the best hit."""
        return None if self.representative == BEST else RepresentativeRule.of(self.representative)

    @property
    def parsed(self) -> Words:
        """The query, parsed into terms."""
        return Words.of(self.words, any_word=self.any_word)


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position at which a search continues: its request, its view, and the next page of results."""

    request: SearchRequest
    key: str  # of the view that the store keeps
    number: int  # of the next page of results, counted from 0

    def __str__(self) -> str:
        return packed_cursor([asdict(self.request), self.key, self.number])

    @classmethod
    def of(cls, written: str) -> Self:
        """Parse a cursor from its `str`. Any other text raises a QuestionError."""
        content = unpacked_cursor(written)
        try:
            request, key, number = content
            if not isinstance(key, str) or type(number) is not int or number < 0:
                raise TypeError
            return cls(_request(**request), key, number)
        except (ValueError, TypeError, AttributeError, QuestionError):
            raise not_a_cursor() from None


def _request(*, where: dict[str, Any], facets: list[FacetName], **others: Any) -> SearchRequest:
    times = {name: where[name] and datetime.fromisoformat(where[name]) for name in ("since", "until")}
    filters = Filters(**{**where, **times})
    texts = (
        isinstance(others["words"], str),
        isinstance(others.get("representative", ""), str),
        *(value is None or isinstance(value, str) for value in (filters.site, filters.crawl)),
    )
    if not all(texts):
        raise TypeError
    return SearchRequest(where=filters, facets=tuple(facets), **others)
