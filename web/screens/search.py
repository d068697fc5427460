"""Search: the pages that have some words, and below each the pages that are like it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.answers.nothing_found import NoHit, no_hit
from opensearch_winnow.answers.search_document import SearchDocument, search_document
from opensearch_winnow.answers.search_words import more_like_this, pages_in_groups
from opensearch_winnow.index import Index
from opensearch_winnow.queries.cursors import DEFAULT_THRESHOLD
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.results import SearchResults, Way
from opensearch_winnow.queries.words import Words
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.filter_parameters import FILTERS, NAMES, filters
from opensearch_winnow.web.parameters import choice, number, percentage, words
from opensearch_winnow.web.screen import Answered, Cell, Screen

WAYS: dict[str, Way] = {"on": "signature", "cluster": "cluster", "both": "both"}
EXAMINED = 1_000  # pages that are put into groups: for most searches all, so that their number is exact
FARTHEST = 10_000  # page of results


def answer(index: Index, asked: Asked) -> Answered:
    if not phrases(Words.of(asked["q"])).wanted:
        start = {"results": None, "pages": index.store.count(), "narrowed": _narrowed(asked)}
        return Answered(_nothing_asked(), lambda: start)
    started = time.perf_counter()
    results = index.search(
        asked["q"],
        any_word=asked["match"] == "any",
        group=asked["group"] != "off",
        by=WAYS.get(asked["group"], "signature"),
        threshold=asked["t"],
        examine=asked["examine"],
        limit=asked["limit"],
        page=asked["page"],
        where=filters(asked),
        all_captures=asked["captures"] == "all",
        facets=("site", "month"),
    )
    document = search_document(results, time.perf_counter() - started)
    return Answered(document, lambda: _shown(index, asked, results))


def _shown(index: Index, asked: Asked, results: SearchResults) -> dict[str, Any]:
    first = (asked["page"] - 1) * asked["limit"] + 1
    last = first + len(results.hits) - 1
    most = results.total if results.by is None else results.at_most
    return {
        "results": results,
        "narrowed": _narrowed(asked),
        "heading": pages_in_groups(results),
        "alike": [more_like_this(hit, asked["t"]) if hit.members else "" for hit in results.hits],
        "first": first,
        "following": results.hits and last < most,
        "exact": results.by is None or results.groups is not None,
        "why": None if results.hits else _why_nothing(index, asked, results),
    }


def _narrowed(asked: Asked) -> bool:
    """Whether something is chosen that is folded away."""
    return any(name in asked.given and asked[name] not in ("latest", "all") for name in (*NAMES, "match"))


def _why_nothing(index: Index, asked: Asked, results: SearchResults) -> NoHit | None:
    if results.total:
        return None  # it is past the last page of results
    return no_hit(
        index,
        asked["q"],
        any_word=asked["match"] == "any",
        where=filters(asked),
        all_captures=asked["captures"] == "all",
        filters=" and ".join(name for name in NAMES if name in asked.given and name != "captures"),
    )


def _nothing_asked() -> SearchDocument:
    return search_document(SearchResults(total=0, hits=[]), 0)


def table(document: SearchDocument) -> Iterator[Sequence[Cell]]:
    """A line for each page: `group` is the number of its group, and `resemblance` that to the first of it."""
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
    about="Pages that have some words, each with the pages that are like it",
    answer=answer,
    returns=SearchDocument,
    table=table,
    parameters=(
        words("q", 'words, "a phrase", -without, begin*, either OR other', most=2_000),
        percentage(
            "t", "how much a page resembles the first of its group, at least", default=round(100 * DEFAULT_THRESHOLD)
        ),
        choice("group", "what is alike is shown once", "on", "cluster", "both", "off"),
        choice("match", "all words, or any of them", "all", "any"),
        *FILTERS,
        number("examine", "hits that are put into groups, at least", default=EXAMINED, least=1, most=100_000),
        number("limit", "hits on a page of results", default=10, least=1, most=100),
        number("page", "which page of results", default=1, least=1, most=FARTHEST),
    ),
)
