"""The first screen: the contents of the store, the share of copies, and examples to start from."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.answers.upkeep.overview import StoreAtAGlance
from opensearch_winnow.index import Index
from opensearch_winnow.operations.upkeep.overview import ExamplePair
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.upkeep.statistics import search_link
from opensearch_winnow.web.server_threads import BusyError
from opensearch_winnow.web.texts.compared_panes import Ribbon, ribbons

WAIT_SECONDS = 0.3  # for the first count; a large store shows its figures a little later


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    try:
        overview = request.state.overview.get(index, WAIT_SECONDS)
    except BusyError:
        overview = None
    clustering, run = index.clustering(), request.state.clustering
    found = StoreAtAGlance(
        captures=index.count(),
        at=clustering.at if clustering else None,
        clustered=clustering.pages if clustering else None,
        running=run.running(),
        failure=run.failure or None,
        overview=overview,
    )
    return ScreenAnswer(found, lambda: _template_values(found))


def _template_values(found: StoreAtAGlance) -> dict[str, Any]:
    overview = found.overview
    return {
        "heading": heading(found),
        "ribbons": _ribbons(overview.comparison) if overview and overview.comparison else [],
        "passage_link": search_link(overview.passage.phrase) if overview and overview.passage else "",
        "query_links": [f"/search?{urlencode({'words': each.query})}" for each in overview.queries] if overview else [],
    }


def heading(found: StoreAtAGlance) -> str:
    overview = found.overview
    if not found.captures:
        return "This store is empty"
    if overview is None:
        return count_of(found.captures, "page")
    pages = count_of(overview.pages, "page")
    if overview.copies is None or overview.pages == 1:
        return f"{pages} on {count_of(overview.sites, 'site')}" if overview.sites else pages
    lacking = overview.without_text
    if lacking == overview.pages:
        return f"None of {pages} has a text to compare"
    lack = f"; {lacking:,} of them {'has' if lacking == 1 else 'have'} no text" if lacking else ""
    if not overview.copies:
        return f"No two of {pages} are near-copies{lack}"
    return f"{overview.copies:,} of {pages} are near-copies of another{lack}"


def _ribbons(pair: ExamplePair) -> list[Ribbon]:
    numbered = [NumberedPassage(number, passage, 0, moved=False) for number, passage in enumerate(pair.passages, 1)]
    return ribbons(numbered, *pair.characters)


SCREEN = Screen(
    name="home",
    path="/",
    api="/overview",
    summary="The contents of the store, the share of copies, and examples to start from",
    answer=answer,
    returns=StoreAtAGlance,
)
