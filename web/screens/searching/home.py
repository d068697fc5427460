"""The first screen: what is in the store, how much of it is copied, and where to start."""

from __future__ import annotations

from typing import Any, TypedDict
from urllib.parse import urlencode

from opensearch_winnow.answers.clusters.clusters_document import RunningDocument
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.answers.upkeep.overview import ExampleComparison, OverviewDocument
from opensearch_winnow.index import Index
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.searching.search_request import DEFAULT_THRESHOLD
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.clusters.clusters import running_document
from opensearch_winnow.web.screens.upkeep.statistics import search_link
from opensearch_winnow.web.server_threads import BusyError
from opensearch_winnow.web.texts.compared_panes import Ribbon, ribbons

WAIT_SECONDS = 0.3  # for the first count; a large store shows its figures a little later


class HomeDocument(TypedDict):
    """`overview` is null while the pages are counted for the first time. `captures` is how many the store has now, and
    `clustered` how many it had at the last clustering run (`at`); both are null if it was never clustered."""

    captures: int
    at: str | None
    clustered: int | None
    running: RunningDocument | None
    failure: str | None
    overview: OverviewDocument | None


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    try:
        overview = request.state.overview.get(index, WAIT_SECONDS)
    except BusyError:
        overview = None
    clustering = index.clustering()
    document: HomeDocument = {
        "captures": index.count(),
        "at": clustering["at"] if clustering else None,
        "clustered": clustering["pages"] if clustering else None,
        "running": running_document(request),
        "failure": request.state.clustering.failure or None,
        "overview": overview,
    }
    return ScreenAnswer(document, lambda: _template_values(document))


def _template_values(document: HomeDocument) -> dict[str, Any]:
    overview = document["overview"]
    return {
        "heading": heading(document),
        "default": round(100 * DEFAULT_THRESHOLD),
        "ribbons": _ribbons(overview["comparison"]) if overview and overview["comparison"] else [],
        "passage_link": search_link(overview["passage"]["phrase"]) if overview and overview["passage"] else "",
        "query_links": [f"/search?{urlencode({'words': each['query']})}" for each in overview["queries"]]
        if overview
        else [],
    }


def heading(document: HomeDocument) -> str:
    overview = document["overview"]
    if not document["captures"]:
        return "This store is empty"
    if overview is None:
        return count_of(document["captures"], "page")
    pages = count_of(overview["pages"], "page")
    if overview["copies"] is None or overview["pages"] == 1:
        return f"{pages} on {count_of(overview['sites'], 'site')}" if overview["sites"] else pages
    lacking = overview["without_text"]
    if lacking == overview["pages"]:
        return f"None of {pages} has a text to compare"
    lack = f"; {lacking:,} of them {'has' if lacking == 1 else 'have'} no text" if lacking else ""
    if not overview["copies"]:
        return f"No two of {pages} are near-copies{lack}"
    return f"{overview['copies']:,} of {pages} are near-copies of another{lack}"


def _ribbons(comparison: ExampleComparison) -> list[Ribbon]:
    numbered = [
        NumberedPassage(number, Passage(*passage), 0, moved=False)
        for number, passage in enumerate(comparison["passages"], 1)
    ]
    return ribbons(numbered, *comparison["characters"])


SCREEN = Screen(
    name="home",
    path="/",
    api="/overview",
    summary="What is in the store, how much of it is copied, and examples to start from",
    answer=answer,
    returns=HomeDocument,
)
