"""The search screen: pages that match a query, with near-duplicates grouped."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.answers.asking.nothing_found import NoHitWords, no_hit_words
from opensearch_winnow.answers.formatting import count_of, more_than_listed
from opensearch_winnow.answers.searching.search_words import more_like_this
from opensearch_winnow.index import Index
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.searching.results import SearchResults
from opensearch_winnow.queries.searching.search_request import MAX_HITS_PER_PAGE, SearchQuestion
from opensearch_winnow.queries.words import Words
from opensearch_winnow.web.parameters import (
    FILTER_NAMES,
    FILTER_PARAMETERS,
    ParameterError,
    integer,
    of_options,
    string,
)
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.search_box import Suggestions, address_for, is_address, suggestions

HITS_EXAMINED = 1_000  # grouped by default: all hits of most searches, so that the number of groups is exact
MAX_EXAMINED = 100_000
MAX_RESULTS_PAGE = 10_000
MAX_QUERY_CHARS = 2_000
MAX_TYPED_CHARS = 20_000  # of a paragraph in the search box, which is looked for as a whole
MAX_ADDRESSES = 8  # like the query, shown if no page has its words
MAX_MEMBERS_SHOWN = 50  # of a group; all are in the JSON
MAX_SUGGESTIONS = 50


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    words = request["words"]
    if len(words) > MAX_QUERY_CHARS and request.fault is None:
        raise ParameterError(f"words has at most {MAX_QUERY_CHARS:,} characters, not {len(words):,}")
    if request.fault or not phrases(Words.of(words)).wanted:
        nothing = SearchResults(total=0, hits=[])
        return ScreenAnswer(
            nothing, lambda: {"searched": False, "narrowed": _narrowed(request), **_unsearchable(request)}
        )
    results = index.search(_question(request))
    return ScreenAnswer(results, lambda: _template_values(index, request, results))


def _question(request: ScreenRequest) -> SearchQuestion:
    examine = MAX_EXAMINED if request.is_whole else request["examine"]
    return request.options(SearchQuestion, words=request["words"], examine=examine, facets=("site", "month"))


def _template_values(index: Index, request: ScreenRequest, results: SearchResults) -> dict[str, Any]:
    first = (request["page"] - 1) * request["limit"] + 1
    last = first + len(results) - 1
    count = results.total if results.by is None else results.at_most
    typed = request["words"]
    return {
        "searched": True,
        "narrowed": _narrowed(request),
        "heading": results_heading(results),
        "alike": [more_like_this(hit, request["min_resemblance"]) if hit.members else "" for hit in results],
        "first": first,
        "following": results and last < count,
        "exact": results.by is None or results.groups is not None,
        "why": None if results else _why_nothing(index, request, results),
        "unknown_address": typed.strip() if is_address(typed) else None,
        "max_shown": MAX_MEMBERS_SHOWN,
        "addresses": [] if results.total else suggestions(index, typed, MAX_ADDRESSES).suggestions,
    }


def results_heading(results: SearchResults) -> str:
    """Say briefly how many pages were found, and in how many groups."""
    pages = count_of(results.total, "page")
    if results.by is None or results.groups == results.total:
        return pages
    if results.groups is not None:
        return f"{pages} in {count_of(results.groups, 'group')}"
    groups = f"at least {results.at_least:,}" if results.about is None else f"about {results.about:,}"
    return f"{pages} in {groups} groups"


def _unsearchable(request: ScreenRequest) -> dict[str, str]:
    """Explain why nothing could be searched for."""
    typed = request["words"].strip()
    if request.fault:
        return {"heading": "This search is not possible", "hint": ""}
    if not typed:
        return {"heading": "What are you looking for?", "hint": "Type words, the URL of a page, or a paragraph."}
    if phrases(Words.of(typed)).unwanted:
        hint = "A minus excludes pages with a word. Add a word that the pages should have."
        return {"heading": f"“{typed}” only excludes pages", "hint": hint}
    return {"heading": f"“{typed}” has no letters or digits", "hint": "Punctuation is not searched: type a word."}


def _narrowed(request: ScreenRequest) -> bool:
    """Return whether a filter in the folded part of the form is set."""
    return any(name in request.query and request[name] for name in (*FILTER_NAMES, "any_word"))


def _why_nothing(index: Index, request: ScreenRequest, results: SearchResults) -> NoHitWords | None:
    if results.total:
        return None  # this page is past the last one
    why = index.why_no_hit(_question(request))
    filters = " and ".join(name for name in FILTER_NAMES if name in request.query and name != "all_captures")
    return no_hit_words(why, name=index.name, filters=filters)


def left_out(results: SearchResults) -> str:
    count = results.total if results.by is None else results.at_most
    return more_than_listed(count - len(results), "page" if results.by is None else "group")


def suggest(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(suggestions(index, request["words"], request["limit"]))


SCREEN = Screen(
    name="search",
    path="/search",
    api="/search",
    summary="Pages that match a query, with near-duplicates grouped",
    answer=answer,
    instead=address_for,
    keeps_form=True,
    returns=SearchResults,
    left_out=left_out,
    csv_limit=MAX_HITS_PER_PAGE,
    parameters=(
        string("words", 'words, "a phrase", -without, begin*, either OR other', max_chars=MAX_TYPED_CHARS),
        *of_options(
            SearchQuestion,
            *("group", "by", "min_resemblance", "representative", "any_word"),
            defaults={"group": True},
        ),
        *FILTER_PARAMETERS,
        *of_options(
            SearchQuestion,
            *("examine", "limit", "page"),
            defaults={"examine": HITS_EXAMINED},
            at_most={"examine": MAX_EXAMINED, "limit": 100, "page": MAX_RESULTS_PAGE},
        ),
    ),
)
SUGGEST = Screen(
    name="suggest",
    path="",
    api="/suggest",
    summary="Pages whose address or title begins as typed",
    answer=suggest,
    returns=Suggestions,
    parameters=(
        string("words", "the beginning of a URL, or words of a title", max_chars=MAX_QUERY_CHARS),
        integer("limit", "number of pages", default=8, minimum=1, maximum=MAX_SUGGESTIONS),
    ),
)
