"""Defines the request of a search, and the cursor: the text that asks for the next page of its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from datetime import datetime
from typing import Any, Self, get_args

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.option_kinds import FLAG, number, one_of, several, share, text
from opensearch_winnow.foundation.options import Options, group as grouped, option
from opensearch_winnow.queries.filters import Filters, searched
from opensearch_winnow.queries.searching.cursor_text import not_a_cursor, packed_cursor, unpacked_cursor
from opensearch_winnow.queries.searching.representative_rule import CHOICES, RepresentativeRule
from opensearch_winnow.queries.searching.results import FacetName, GroupBy
from opensearch_winnow.queries.words import Words

DEFAULT_THRESHOLD = 0.5  # minimum resemblance of a page to the representative of its group
DEFAULT_EXAMINE = 100  # pages
BEST = "best"
MAX_HITS_PER_PAGE = 10_000
MAX_EXAMINED = 1_000_000
MAX_PAGE_NUMBER = 1_000_000  # far more pages than are ever read; a higher number might overflow
MAX_CURSOR_CHARS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions(Options):
    """The options that decide what a search finds, and how it is grouped."""

    any_word: bool = option(False, FLAG, "Find pages with any of the words, not only pages with all.")
    group: bool = option(
        False, FLAG, "Show near-duplicates of a hit below it, and not again.", flag="--group/--no-group"
    )
    min_resemblance: float = option(
        DEFAULT_THRESHOLD,
        share(above_0=True),
        "Group pages under a hit that they resemble by at least X.",
    )
    by: GroupBy = option(
        "signature",
        one_of(*get_args(GroupBy)),
        "How to group. signature: compare the hits. cluster: use the clusters saved by winnow cluster. both: merge"
        " similar clusters.",
    )
    examine: int = option(DEFAULT_EXAMINE, number(1, MAX_EXAMINED), "Group at least the N best hits.", advanced=True)
    exact: bool = option(
        False, FLAG, "Compute each resemblance from the texts instead of estimating it.", advanced=True
    )
    representative: str = option(
        BEST, text("RULE", 2_000), f"The page of a group to show: {BEST} (the best hit), {CHOICES}.", advanced=True
    )
    limit: int = option(10, number(1, MAX_HITS_PER_PAGE), "Hits per page.")
    facets: Sequence[FacetName] = option(
        (),
        several(*get_args(FacetName)),
        f"Count pages and groups by these facets, separated by commas: {', '.join(get_args(FacetName))}.",
    )

    where: Filters = grouped(Filters)
    all_captures: bool = option(False, FLAG, "Include every capture of a URL, not only one.")

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        if self.representative != BEST:
            RepresentativeRule.of(self.representative, BEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest(SearchOptions):
    """A search: its words, and the options that decide its results."""

    words: str

    @property
    def searched(self) -> Filters:
        """The filters of the pages that are searched."""
        return searched(self.where, all_captures=self.all_captures)

    @property
    def rule(self) -> RepresentativeRule | None:
        """The rule that chooses the page shown for a group; None if it is the best hit."""
        return None if self.representative == BEST else RepresentativeRule.of(self.representative)

    @property
    def parsed(self) -> Words:
        """The query, parsed into terms."""
        return Words.of(self.words, any_word=self.any_word)


@dataclass(frozen=True, slots=True)
class SearchQuestion(SearchOptions):
    """A search and the page of its results that is wanted; or the cursor of an earlier search."""

    words: str = ""
    _: KW_ONLY
    page: int = option(1, number(1, MAX_PAGE_NUMBER), "Page of hits to show.", advanced=True)
    stable: bool = option(
        False,
        FLAG,
        "Freeze the results for some minutes, so that --cursor can page through them. Only for a store on OpenSearch.",
        advanced=True,
    )
    cursor: str | None = option(
        None, text("TEXT", MAX_CURSOR_CHARS), "Show the next page of a --stable search. Give no WORDS.", advanced=True
    )

    @property
    def request(self) -> SearchRequest:
        """The search itself."""
        return self.part(SearchRequest)


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
