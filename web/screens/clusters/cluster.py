"""The cluster screen: the pages of a cluster, how alike they are, when they were captured, and what they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from opensearch_winnow.answers.clusters.cluster_document import ClusterDocument, cluster_document
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import compact_percent, count_of, more_than_listed, scored_percent
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.clusters.cluster_details import MAX_CAPTURES_COUNTED
from opensearch_winnow.web.charts.colour_steps import colour_step
from opensearch_winnow.web.charts.page_graph import Node, page_graph, site_colours
from opensearch_winnow.web.charts.timeline import strip, timeline
from opensearch_winnow.web.parameters import integer, percentage
from opensearch_winnow.web.screen import Cell, NotFoundError, Screen, ScreenAnswer, SuggestedLink
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_TIMELINE_SITES = 12
MAX_SIZES_NAMED = 4  # parts of a cluster whose sizes a sentence lists


class Part(NamedTuple):
    """A part of the representative's text, and how many of the other pages share it."""

    level: str  # none, some, most or all of them: the CSS class of its colour
    label: str
    text: str


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    cards = _cards(index, request["id"])
    details = index.cluster_details(
        cards,
        threshold=request["t"] if "t" in request.query else None,
        limit=request["limit"],
        offset=(request["page"] - 1) * request["limit"],
    )
    document = cluster_document(details, index.clustering())
    return ScreenAnswer(document, lambda: _template_values(index, document, cards))


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


def _template_values(index: Index, document: ClusterDocument, cards: Sequence[Card]) -> dict[str, Any]:
    colours = site_colours([page["site"] for page in document["compared_pages"]])
    return {
        "heading": heading(document),
        "linkage": linkage_sentence(document),
        "graph": Markup("").join(map(Markup, _graph(document, colours))),
        "cohesion": cohesion(document),
        "colours": colours,
        "colour_step": colour_step,
        "timeline": timeline(cards[:MAX_CAPTURES_COUNTED], max_sites=MAX_TIMELINE_SITES),
        "strip": lambda line: Markup("").join(map(Markup, strip(line))),
        "parts": list(_parts(index, document)),
        "boilerplate": bool(index.boilerplate()),
    }


def _graph(document: ClusterDocument, colours: Mapping[str, int]) -> Iterator[str]:
    nodes = [
        Node(
            page["id"],
            page["number"],
            f"{page['number']}: {one_line(page['title'] or '(no title)')}, {one_line(page['url'])}",
            colours[page["site"]],
        )
        for page in document["compared_pages"]
    ]
    return page_graph(nodes, document["matrix"], document["threshold"])


def heading(document: ClusterDocument) -> str:
    if document["urls"] == 1:
        if document["pages"] == 1:
            return "No near-duplicates: this page is alone in its cluster"
        return f"No other page is like this one: {count_of(document['pages'], 'capture')} of one page"
    pages = f"{count_of(document['urls'], 'page')} on {count_of(document['sites'], 'site')}"
    if document["more"]:
        pages = f"{document['urls']:,} pages or more on {count_of(document['sites'], 'site')} or more"
    pair = document["lowest"]
    if document["texts"] == 1:
        return f"{pages}, all with the same text"
    if pair is None:
        return pages
    lowest = scored_percent(pair["likeness"]["resemblance"], pair["likeness"]["kind"], pair["likeness"]["error"])
    among = f" among {document['compared']:,} of them" if document["compared"] < document["urls"] else ""
    return f"{pages}, {'at least ' if document['urls'] > 2 else ''}{lowest} alike{among}"


def cohesion(document: ClusterDocument) -> str:
    """Say whether the pages that were compared are one family, or several, or several held together by one page."""
    threshold, parts = compact_percent(document["threshold"]), document["parts"]
    if len(parts) > 1:
        return f"At {threshold}, these are {_of_sizes(parts)}."
    if not document["below"]:
        return f"Every two pages resemble each other by {threshold} or more."
    if document["joined_by"]:
        joining = document["joined_by"][0]
        return f"Without page {joining['number']}, this would fall into {_of_sizes(joining['parts'])}."
    return "No single page holds these together: without any one of them, the others would still be connected."


def _of_sizes(parts: Sequence[int]) -> str:
    if parts[0] == 1:
        return f"{len(parts):,} single pages"
    if len(parts) > MAX_SIZES_NAMED:
        return f"{len(parts):,} parts, the largest with {count_of(parts[0], 'page')}"
    sizes = [count_of(size, "page") for size in parts]
    return f"{len(parts)} parts: {', '.join(sizes[:-1])} and {sizes[-1]}"


def linkage_sentence(document: ClusterDocument) -> str:
    """Say what the pages of the cluster have in common, by the way it was found."""
    clustering = document["clustering"]
    if clustering is None:
        return "It is not known how this cluster was found."
    threshold = compact_percent(clustering["threshold"])
    if clustering["linkage"] == "components":
        return (
            f"Every page resembles at least one other by {threshold} or more. Two pages at the ends of a chain may"
            " differ much more."
        )
    less = " Two other pages may be less alike." if document["urls"] > 2 else ""
    resembled = "representative" if clustering["representative"] == "earliest" else "earliest page"
    return f"Every page resembles the {resembled} by {threshold} or more.{less}"


def _parts(index: Index, document: ClusterDocument) -> Iterator[Part]:
    """Yield the parts of the representative's text; neighbouring runs of the same level are one part."""
    shared = document["shared"]
    if shared is None:
        return
    id_ = document["representative"]["id"]
    text = index.texts([id_]).get(id_, "")
    previous, begin, last, counts = "", 0, 0, {0}
    for start, end, pages in shared["runs"]:
        level = _level(pages, shared["pages"])
        if previous and level != previous:
            yield Part(previous, _part_label(previous, counts, shared["pages"]), text[begin:last])
            begin, counts = start, set()
        counts = {*counts, pages} if previous == level else {pages}
        previous, last = level, end
    if previous:
        yield Part(previous, _part_label(previous, counts, shared["pages"]), text[begin:last])


def _level(pages: int, of: int) -> str:
    return "none" if not pages else "all" if pages == of else "most" if 2 * pages >= of else "some"


def _part_label(level: str, counts: set[int], of: int) -> str:
    if level in ("none", "all"):
        return {"none": "in no other page", "all": f"in all {of:,} others" if of > 1 else "in the other page"}[level]
    low, high = min(counts), max(counts)
    return f"in {low:,}{f' to {high:,}' * (low < high)} of {of:,} others"


def left_out(document: ClusterDocument) -> str:
    return more_than_listed(document["urls"] - len(document["listed_pages"]), "page")


def table(document: ClusterDocument) -> Iterator[Sequence[Cell]]:
    """Yield a row for each page; its scores compare the representative with it."""
    scores = ("resemblance", "containment", "contained", "kind", "error")
    yield "number", *scores, "fetched_at", "site", "url", "title", "id", "captures"
    for each in document["listed_pages"]:
        likeness = [each["likeness"][name] for name in scores]  # type: ignore[literal-required]
        page = each["fetched_at"], each["site"], each["url"], each["title"], each["id"]
        yield each["number"], *likeness, *page, each["captures"]


SCREEN = Screen(
    name="cluster",
    path="/cluster/{id}",
    api="/clusters/{id}",
    summary="A cluster of near-duplicate pages, by its id or the id of one of its pages",
    answer=answer,
    returns=ClusterDocument,
    heavy=True,
    table=table,
    left_out=left_out,
    parameters=(
        percentage(
            "t",
            "join pages from this resemblance on; by default the threshold of the clustering",
            default=50,
            counts_if_given=True,
        ),
        integer("limit", "pages of the cluster to list", default=100, minimum=1, maximum=1_000),
        integer("page", "which part of the list", default=1, minimum=1, maximum=100_000),
    ),
)
