"""The search screen: pages that match a query, with near-duplicates grouped."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.answers.asking.nothing_found import NoHitWords, no_hit_words
from opensearch_winnow.answers.formatting import count_of, more_than_listed
from opensearch_winnow.answers.searching.search_document import SearchDocument, member_titles, search_document
from opensearch_winnow.answers.searching.search_words import more_like_this
from opensearch_winnow.index import Index
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.searching.representative_rule import CHOICES
from opensearch_winnow.queries.searching.results import GroupBy, SearchResults
from opensearch_winnow.queries.searching.search_request import (
    BEST,
    DEFAULT_THRESHOLD,
    MAX_HITS_PER_PAGE,
    SearchQuestion,
)
from opensearch_winnow.queries.words import Words
from opensearch_winnow.web.parameters import (
    FILTER_NAMES,
    FILTER_PARAMETERS,
    ParameterError,
    choice,
    integer,
    percentage,
    string,
)
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.search_box import SuggestionsDocument, address_for, is_address, suggestions

GROUPINGS: dict[str, GroupBy] = {"on": "signature", "cluster": "cluster", "both": "both"}
HITS_EXAMINED = 1_000  # grouped by default: all hits of most searches, so that the number of groups is exact
MAX_EXAMINED = 100_000
MAX_RESULTS_PAGE = 10_000
MAX_QUERY_CHARS = 2_000
MAX_TYPED_CHARS = 20_000  # of a paragraph in the search box, which is looked for as a whole
MAX_ADDRESSES = 8  # like the query, shown if no page has its words
MAX_MEMBERS_SHOWN = 50  # of a group; all are in the JSON


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    if len(request["q"]) > MAX_QUERY_CHARS and request.fault is None:
        raise ParameterError(f"q has at most {MAX_QUERY_CHARS:,} characters, not {len(request['q']):,}")
    if request.fault or not phrases(Words.of(request["q"])).wanted:
        document = search_document(SearchResults(total=0, hits=[]), 0)
        return ScreenAnswer(
            document, lambda: {"results": None, "narrowed": _narrowed(request), **_unsearchable(request)}
        )
    started = time.perf_counter()
    results = index.search(_question(request))
    titles = member_titles(index, results)
    document = search_document(results, time.perf_counter() - started, titles)
    return ScreenAnswer(document, lambda: _template_values(index, request, results))


def _question(request: ScreenRequest) -> SearchQuestion:
    return SearchQuestion(
        request["q"],
        any_word=request["match"] == "any",
        group=request["group"] != "off",
        by=GROUPINGS.get(request["group"], "signature"),
        threshold=request["t"],
        representative=request["representative"] or BEST,
        examine=MAX_EXAMINED if request.is_whole else request["examine"],
        limit=request["limit"],
        page=request["page"],
        where=request.filters(),
        all_captures=request["all_captures"],
        facets=("site", "month"),
    )


def _template_values(index: Index, request: ScreenRequest, results: SearchResults) -> dict[str, Any]:
    first = (request["page"] - 1) * request["limit"] + 1
    last = first + len(results.hits) - 1
    count = results.total if results.by is None else results.at_most
    return {
        "results": results,
        "narrowed": _narrowed(request),
        "heading": results_heading(results),
        "alike": [more_like_this(hit, request["t"]) if hit.members else "" for hit in results.hits],
        "first": first,
        "following": results.hits and last < count,
        "exact": results.by is None or results.groups is not None,
        "why": None if results.hits else _why_nothing(index, request, results),
        "unknown_address": request["q"].strip() if is_address(request["q"]) else None,
        "max_shown": MAX_MEMBERS_SHOWN,
        "addresses": [] if results.total else suggestions(index, request["q"], MAX_ADDRESSES)["suggestions"],
    }


def results_heading(results: SearchResults) -> str:
    """Say how many pages were found and in how many groups, in as few words as are true."""
    pages = count_of(results.total, "page")
    if results.by is None or results.groups == results.total:
        return pages
    if results.groups is not None:
        return f"{pages} in {count_of(results.groups, 'group')}"
    groups = f"at least {results.at_least:,}" if results.about is None else f"about {results.about:,}"
    return f"{pages} in {groups} groups"


def _unsearchable(request: ScreenRequest) -> dict[str, str]:
    """Say why nothing could be searched for."""
    typed = request["q"].strip()
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
    return any(name in request.query and request[name] not in (False, "all") for name in (*FILTER_NAMES, "match"))


def _why_nothing(index: Index, request: ScreenRequest, results: SearchResults) -> NoHitWords | None:
    if results.total:
        return None  # this page is past the last one
    why = index.why_no_hit(_question(request))
    filters = " and ".join(name for name in FILTER_NAMES if name in request.query and name != "all_captures")
    return no_hit_words(why, name=index.name, filters=filters)


def left_out(document: SearchDocument) -> str:
    is_grouped = document["by"] is not None
    count = document["groups_at_most"] if is_grouped else document["total"]
    return more_than_listed(count - len(document["hits"]), "group" if is_grouped else "page")


def table(document: SearchDocument) -> Iterator[Sequence[Cell]]:
    """Yield a row for each page, with the number of its group and its resemblance to the group's representative."""
    yield "group", "resemblance", "kind", "score", "fetched_at", "site", "url", "title", "id"
    for group, hit in enumerate(document["hits"], 1):
        yield group, 1.0, "exact", hit["score"], hit["fetched_at"], hit["site"], hit["url"], hit["title"], hit["id"]
        for each in hit["member_pages"]:
            scores = each["resemblance"], each["kind"], each["score"]
            yield group, *scores, each["fetched_at"], each["site"], each["url"], each["title"], each["id"]


def suggest(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(suggestions(index, request["q"], request["limit"]))


SCREEN = Screen(
    name="search",
    path="/search",
    api="/search",
    summary="Pages that match a query, with near-duplicates grouped",
    answer=answer,
    instead=address_for,
    keeps_form=True,
    returns=SearchDocument,
    table=table,
    left_out=left_out,
    csv_limit=MAX_HITS_PER_PAGE,
    parameters=(
        string("q", 'words, "a phrase", -without, begin*, either OR other', max_chars=MAX_TYPED_CHARS),
        percentage(
            "t",
            "minimum resemblance of a page to the representative of its group",
            default=round(100 * DEFAULT_THRESHOLD),
        ),
        choice(
            "group",
            "group near-duplicates by resemblance, by cluster, by both, or not at all",
            "on",
            "cluster",
            "both",
            "off",
        ),
        string("representative", f"the page of a group to show: {BEST}, {CHOICES}", max_chars=2_000),
        choice("match", "match all words, or any of them", "all", "any"),
        *FILTER_PARAMETERS,
        integer("examine", "minimum number of hits to group", default=HITS_EXAMINED, minimum=1, maximum=MAX_EXAMINED),
        integer("limit", "hits on a page of results", default=10, minimum=1, maximum=100),
        integer("page", "which page of results", default=1, minimum=1, maximum=MAX_RESULTS_PAGE),
    ),
)
SUGGEST = Screen(
    name="suggest",
    path="",
    api="/suggest",
    summary="Pages whose address or title begins as typed",
    answer=suggest,
    returns=SuggestionsDocument,
    parameters=(
        string("q", "the beginning of a URL, or words of a title", max_chars=MAX_QUERY_CHARS),
        integer("limit", "number of pages", default=8, minimum=1, maximum=50),
    ),
)
