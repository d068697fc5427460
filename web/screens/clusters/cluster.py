"""The cluster screen: the pages of a cluster, their resemblances, capture times and shared text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import compact_percent, count_of, more_than_listed, scored_percent
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.clusters.cluster_details import (
    MAX_CAPTURES_COUNTED,
    ClusterDetails,
    ClusterDetailsOptions,
)
from opensearch_winnow.web.charts.colour_steps import colour_step
from opensearch_winnow.web.charts.page_graph import Node, page_graph, site_colours
from opensearch_winnow.web.charts.timeline import strip, timeline
from opensearch_winnow.web.parameters import integer, of_options
from opensearch_winnow.web.screen import NotFoundError, Screen, ScreenAnswer, SuggestedLink
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_TIMELINE_SITES = 12
MAX_SIZES_NAMED = 4  # parts of a cluster whose sizes a sentence lists


class Part(NamedTuple):
    """A part of the representative's text, and the number of other pages that share it."""

    level: str  # none, some, most or all of them: the CSS class of its colour
    label: str
    text: str


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    cards = _cards(index, request["id"])
    options = request.options(ClusterDetailsOptions, offset=(request["page"] - 1) * request["limit"])
    details = index.cluster_details(cards, **options.keywords())
    return ScreenAnswer(details, lambda: _template_values(index, details, cards))


def _cards(index: Index, id_: str) -> list[Card]:
    """Return the first pages of the cluster with this id, or of the cluster of the page with this id."""
    cards = index.cluster_pages(id_, limit=MAX_CAPTURES_COUNTED + 1)
    if not cards:
        page = next(index.cards(ids=[id_]), None)
        cards = index.cluster_pages(page.cluster, limit=MAX_CAPTURES_COUNTED + 1) if page else []
    if not cards:
        raise NotFoundError(
            f"{index.name} has no cluster or page {id_}: it may have been deleted, or the store was clustered again",
            SuggestedLink("/clusters", "All clusters"),
        )
    return cards


def _template_values(index: Index, details: ClusterDetails, cards: Sequence[Card]) -> dict[str, Any]:
    colours = site_colours([page.card.site for page in details.compared_pages])
    return {
        "heading": heading(details),
        "linkage": linkage_sentence(details),
        "graph": Markup("").join(map(Markup, _graph(details, colours))),
        "cohesion": cohesion(details),
        "colours": colours,
        "colour_step": colour_step,
        "timeline": timeline(cards[:MAX_CAPTURES_COUNTED], max_sites=MAX_TIMELINE_SITES),
        "strip": lambda line: Markup("").join(map(Markup, strip(line))),
        "parts": list(_parts(index, details)),
        "boilerplate": bool(index.boilerplate()),
    }


def _graph(details: ClusterDetails, colours: Mapping[str, int]) -> Iterator[str]:
    nodes = [
        Node(
            card.id,
            number,
            f"{number}: {one_line(card.title or '(no title)')}, {one_line(card.url)}",
            colours[card.site],
        )
        for card, number in ((page.card, page.number) for page in details.compared_pages)
    ]
    return page_graph(nodes, details.matrix, details.threshold)


def heading(details: ClusterDetails) -> str:
    if details.urls == 1:
        if details.pages == 1:
            return "No near-duplicates: this page is alone in its cluster"
        return f"No other page is like this one: {count_of(details.pages, 'capture')} of one page"
    pages = f"{count_of(details.urls, 'page')} on {count_of(details.sites, 'site')}"
    if details.more:
        pages = f"{details.urls:,} pages or more on {count_of(details.sites, 'site')} or more"
    pair = details.lowest
    if details.texts == 1:
        return f"{pages}, all with the same text"
    if pair is None:
        return pages
    lowest = scored_percent(pair.likeness.resemblance, pair.likeness.kind, pair.likeness.error)
    among = f" among {details.compared:,} of them" if details.compared < details.urls else ""
    return f"{pages}, {'at least ' if details.urls > 2 else ''}{lowest} alike{among}"


def cohesion(details: ClusterDetails) -> str:
    """Say whether the compared pages are one family, several, or several that a single page holds together."""
    threshold, parts = compact_percent(details.threshold), details.parts
    if len(parts) > 1:
        return f"At {threshold}, these are {_of_sizes(parts)}."
    if not details.below:
        return f"Every two pages resemble each other by {threshold} or more."
    if details.joined_by:
        joining = details.joined_by[0]
        return f"Without page {joining.number}, this would fall into {_of_sizes(joining.parts)}."
    return "No single page holds these together: without any one of them, the others would still be connected."


def _of_sizes(parts: Sequence[int]) -> str:
    if parts[0] == 1:
        return f"{len(parts):,} single pages"
    if len(parts) > MAX_SIZES_NAMED:
        return f"{len(parts):,} parts, the largest with {count_of(parts[0], 'page')}"
    sizes = [count_of(size, "page") for size in parts]
    return f"{len(parts)} parts: {', '.join(sizes[:-1])} and {sizes[-1]}"


def linkage_sentence(details: ClusterDetails) -> str:
    """Say how the pages of the cluster resemble each other, by the linkage that found it."""
    clustering = details.clustering
    if clustering is None:
        return "It is not known how this cluster was found."
    threshold = compact_percent(clustering.threshold)
    if clustering.linkage == "components":
        return (
            f"Every page resembles at least one other by {threshold} or more. Two pages at the ends of a chain may"
            " differ much more."
        )
    less = " Two other pages may be less alike." if details.urls > 2 else ""
    resembled = "representative" if clustering.representative == "earliest" else "earliest page"
    return f"Every page resembles the {resembled} by {threshold} or more.{less}"


def _parts(index: Index, details: ClusterDetails) -> Iterator[Part]:
    """Yield the parts of the representative's text; neighbouring runs of the same level are one part."""
    shared = details.shared
    if shared is None:
        return
    id_ = details.representative.id
    text = index.texts([id_]).get(id_, "")
    previous, begin, last, counts = "", 0, 0, {0}
    for start, end, pages in shared.runs:
        level = _level(pages, shared.pages)
        if previous and level != previous:
            yield Part(previous, _part_label(previous, counts, shared.pages), text[begin:last])
            begin, counts = start, set()
        counts = {*counts, pages} if previous == level else {pages}
        previous, last = level, end
    if previous:
        yield Part(previous, _part_label(previous, counts, shared.pages), text[begin:last])


def _level(pages: int, of: int) -> str:
    return "none" if not pages else "all" if pages == of else "most" if 2 * pages >= of else "some"


def _part_label(level: str, counts: set[int], of: int) -> str:
    if level in ("none", "all"):
        return {"none": "in no other page", "all": f"in all {of:,} others" if of > 1 else "in the other page"}[level]
    low, high = min(counts), max(counts)
    return f"in {low:,}{f' to {high:,}' * (low < high)} of {of:,} others"


def left_out(details: ClusterDetails) -> str:
    return more_than_listed(details.urls - len(details), "page")


SCREEN = Screen(
    name="cluster",
    path="/cluster/{id}",
    api="/clusters/{id}",
    summary="A cluster of near-duplicate pages, by its id or the id of one of its pages",
    answer=answer,
    returns=ClusterDetails,
    heavy=True,
    left_out=left_out,
    parameters=(
        *of_options(ClusterDetailsOptions, at_most={"limit": 1_000}),
        integer("page", "page of the list", default=1, minimum=1, maximum=100_000),
    ),
)
