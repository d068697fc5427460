"""A cluster: its pages, how alike they are, when they are from, and what all of them have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from opensearch_winnow.answers.cluster_document import MAX_PAGES_COUNTED, ClusterDocument, cluster_document
from opensearch_winnow.answers.formatting import compact_percent, count_of, scored_percent
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.store import Text
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.charts.heatmap import STEPS, heatmap, step
from opensearch_winnow.web.charts.timeline import strip, timeline
from opensearch_winnow.web.parameters import number, percentage
from opensearch_winnow.web.screen import Answered, Cell, NotFoundError, Offer, Screen

SITES = 12  # in the timeline
LEVELS = ("none", "some", "most", "all")  # of the pages that have a part of the text


class Part(NamedTuple):
    """Of the representative's text."""

    level: str
    words: str
    text: str


def answer(index: Index, asked: Asked) -> Answered:
    cards = _cards(index, asked["id"])
    document = cluster_document(
        index,
        cards,
        threshold=asked["t"] if "t" in asked.given else None,
        limit=asked["limit"],
        offset=(asked["page"] - 1) * asked["limit"],
    )
    return Answered(document, lambda: _shown(index, document, cards))


def _cards(index: Index, id_: str) -> list[Card]:
    """The first pages of the cluster of this id, or of the page of this id."""
    cards = index.cluster_members(id_, limit=MAX_PAGES_COUNTED + 1)
    if not cards:
        page = index.store.read([id_], Record).get(id_)
        cards = index.cluster_members(page.cluster, limit=MAX_PAGES_COUNTED + 1) if page else []
    if not cards:
        raise NotFoundError(
            f"{index.name} has no cluster and no page {id_}: it may have been deleted, or clustered anew",
            Offer("/clusters", "All clusters"),
        )
    return cards


def _shown(index: Index, document: ClusterDocument, cards: Sequence[Card]) -> dict[str, Any]:
    shown = len(document["matrix"])
    return {
        "heading": heading(document),
        "held_together": held_together(document),
        "heatmap": Markup("").join(map(Markup, heatmap(document["matrix"], [card.id for card in cards[:shown]]))),
        "numbered": cards[:shown],
        "step": step,
        "steps": STEPS,
        "timeline": timeline(cards[:MAX_PAGES_COUNTED], most=SITES),
        "strip": lambda line: Markup("").join(map(Markup, strip(line))),
        "parts": list(_parts(index, document)),
        "boilerplate": bool(index.boilerplate()),
    }


def heading(document: ClusterDocument) -> str:
    if document["pages"] == 1:
        return "This page is alone: no other page is in its cluster"
    pages = f"{count_of(document['pages'], 'page')} on {count_of(document['sites'], 'site')}"
    if document["more"]:
        pages = f"More than {pages} or more"
    pair = document["lowest"]
    if document["texts"] == 1:
        return f"{pages}, all with the same text"
    if pair is None:
        return pages
    least = scored_percent(pair["likeness"]["resemblance"], pair["likeness"]["kind"], pair["likeness"]["error"])
    of_the_first = f" among the first {document['compared']:,}" if document["compared"] < document["pages"] else ""
    return f"{pages} · lowest pair {least}{of_the_first}"


def held_together(document: ClusterDocument) -> str:
    clustering = document["clustering"]
    if clustering is None:
        return "Nothing is known of how this cluster was found."
    least = compact_percent(clustering["threshold"])
    if clustering["linkage"] == "components":
        return (
            f"Its pages hang together by resemblances of {least} or more: a chain may lead from one to another that it"
            " does not resemble."
        )
    return f"Every page resembles the representative by {least} or more; two others may resemble each other less."


def _parts(index: Index, document: ClusterDocument) -> Iterator[Part]:
    """The runs of the shared text; neighbours that about as many pages have are one."""
    shared = document["shared"]
    if shared is None:
        return
    id_ = document["representative"]["id"]
    text = index.store.read([id_], Text).get(id_, Text("")).text
    before, begin, last, counts = "", 0, 0, {0}
    for start, end, pages in shared["runs"]:
        level = _level(pages, shared["pages"])
        if before and level != before:
            yield Part(before, _words(before, counts, shared["pages"]), text[begin:last])
            begin, counts = start, set()
        counts = {*counts, pages} if before == level else {pages}
        before, last = level, end
    if before:
        yield Part(before, _words(before, counts, shared["pages"]), text[begin:last])


def _level(pages: int, of: int) -> str:
    return "none" if not pages else "all" if pages == of else "most" if 2 * pages >= of else "some"


def _words(level: str, counts: set[int], of: int) -> str:
    if level in ("none", "all"):
        return {"none": "in no other page", "all": f"in all {of:,} others" if of > 1 else "in the other page"}[level]
    low, high = min(counts), max(counts)
    return f"in {low:,}{f' to {high:,}' * (low < high)} of {of:,} others"


def table(document: ClusterDocument) -> Iterator[Sequence[Cell]]:
    """A line for each page; scores compare the representative with it."""
    scores = ("resemblance", "containment", "contained", "kind", "error")
    yield "number", *scores, "fetched_at", "site", "url", "title", "id"
    for each in document["members"]:
        likeness = [each["likeness"][name] for name in scores]  # type: ignore[literal-required]
        yield each["number"], *likeness, each["fetched_at"], each["site"], each["url"], each["title"], each["id"]


SCREEN = Screen(
    name="cluster",
    path="/cluster/{id}",
    api="/clusters/{id}",
    about="A cluster of near-duplicate pages, by its id or that of one of its pages",
    answer=answer,
    returns=ClusterDocument,
    table=table,
    parameters=(
        percentage("t", "pairs that resemble each other less are counted; by default as clustered", default=50),
        number("limit", "pages of the cluster in a list", default=100, least=1, most=1_000),
        number("page", "which list of them", default=1, least=1, most=100_000),
    ),
)
