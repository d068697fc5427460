"""The search screen: pages that match a query, with near-duplicates grouped."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.answers.nothing_found import NoHit, no_hit
from opensearch_winnow.answers.search_document import SearchDocument, search_document
from opensearch_winnow.answers.search_words import more_like_this, pages_in_groups
from opensearch_winnow.index import Index
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.results import GroupBy, SearchResults
from opensearch_winnow.queries.search_request import DEFAULT_THRESHOLD
from opensearch_winnow.queries.words import Words
from opensearch_winnow.web.parameters import FILTER_NAMES, FILTER_PARAMETERS, choice, integer, percentage, string
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

GROUPINGS: dict[str, GroupBy] = {"on": "signature", "cluster": "cluster", "both": "both"}
HITS_EXAMINED = 1_000  # grouped by default: all hits of most searches, so that the number of groups is exact
MAX_RESULTS_PAGE = 10_000


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    if not phrases(Words.of(request["q"])).wanted:
        start = {"results": None, "pages": index.store.count(), "narrowed": _narrowed(request)}
        return ScreenAnswer(_empty_document(), lambda: start)
    started = time.perf_counter()
    results = index.search(
        request["q"],
        any_word=request["match"] == "any",
        group=request["group"] != "off",
        by=GROUPINGS.get(request["group"], "signature"),
        threshold=request["t"],
        examine=request["examine"],
        limit=request["limit"],
        page=request["page"],
        where=request.filters(),
        all_captures=request["captures"] == "all",
        facets=("site", "month"),
    )
    document = search_document(results, time.perf_counter() - started)
    return ScreenAnswer(document, lambda: _template_values(index, request, results))


def _template_values(index: Index, request: ScreenRequest, results: SearchResults) -> dict[str, Any]:
    first = (request["page"] - 1) * request["limit"] + 1
    last = first + len(results.hits) - 1
    count = results.total if results.by is None else results.at_most
    return {
        "results": results,
        "narrowed": _narrowed(request),
        "heading": pages_in_groups(results),
        "alike": [more_like_this(hit, request["t"]) if hit.members else "" for hit in results.hits],
        "first": first,
        "following": results.hits and last < count,
        "exact": results.by is None or results.groups is not None,
        "why": None if results.hits else _why_nothing(index, request, results),
    }


def _narrowed(request: ScreenRequest) -> bool:
    """Return whether a filter in the folded part of the form is set."""
    return any(name in request.query and request[name] not in ("latest", "all") for name in (*FILTER_NAMES, "match"))


def _why_nothing(index: Index, request: ScreenRequest, results: SearchResults) -> NoHit | None:
    if results.total:
        return None  # this page is past the last one
    return no_hit(
        index,
        request["q"],
        any_word=request["match"] == "any",
        where=request.filters(),
        all_captures=request["captures"] == "all",
        filters=" and ".join(name for name in FILTER_NAMES if name in request.query and name != "captures"),
    )


def _empty_document() -> SearchDocument:
    return search_document(SearchResults(total=0, hits=[]), 0)


def table(document: SearchDocument) -> Iterator[Sequence[Cell]]:
    """Yield a row for each page, with the number of its group and its resemblance to the group's representative."""
    yield "group", "resemblance", "kind", "score", "fetched_at", "site", "url", "title", "id"
    for group, hit in enumerate(document["hits"], 1):
        yield group, 1.0, "exact", hit["score"], hit["fetched_at"], hit["site"], hit["url"], hit["title"], hit["id"]
        for each in hit["similar"]:
            scores = each["resemblance"], each["kind"], each["score"]
            yield group, *scores, each["fetched_at"], each["site"], each["url"], None, each["id"]


SCREEN = Screen(
    name="search",
    path="/search",
    api="/search",
    summary="Pages that match a query, with near-duplicates grouped",
    answer=answer,
    returns=SearchDocument,
    table=table,
    parameters=(
        string("q", 'words, "a phrase", -without, begin*, either OR other', max_chars=2_000),
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
        choice("match", "match all words, or any of them", "all", "any"),
        *FILTER_PARAMETERS,
        integer("examine", "minimum number of hits to group", default=HITS_EXAMINED, minimum=1, maximum=100_000),
        integer("limit", "hits on a page of results", default=10, minimum=1, maximum=100),
        integer("page", "which page of results", default=1, minimum=1, maximum=MAX_RESULTS_PAGE),
    ),
)
