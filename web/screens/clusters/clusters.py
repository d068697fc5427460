"""The clusters screen: near-duplicates of the whole store, sorted and filtered, and the form that finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.answers.clusters.clusters_document import ClustersDocument, RunningDocument, clusters_document
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import compact_percent, count_of, more_than_listed
from opensearch_winnow.index import Index
from opensearch_winnow.operations.clusters.cluster_list import MAX_CLUSTERS_SORTED
from opensearch_winnow.queries.searching.search_request import DEFAULT_THRESHOLD
from opensearch_winnow.web.parameters import ParameterError, choice, integer, percentage, string
from opensearch_winnow.web.screen import Action, Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

THRESHOLD_FIELD = percentage(
    "t", "minimum resemblance of a page to the representative of its cluster", default=round(100 * DEFAULT_THRESHOLD)
)
MIN_SIZES = (2, 3, 5, 10, 20, 50, 100)
SORTS = {"size": "most pages", "spread": "most sites", "site": "site, A to Z", "lowest": "least alike"}


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    running = running_document(request)
    clusters = index.cluster_list(
        least=request["min"],
        order=request["sort"],
        site=_site(request),
        limit=request["limit"],
        offset=(request["page"] - 1) * request["limit"],
        compare=running is None,  # while a run is in progress the list is reloaded every few seconds
    )
    document = clusters_document(
        clusters,
        captures=index.count(),
        clustering=index.clustering(),
        running=running,
        failure=request.state.clustering.failure,
    )
    return ScreenAnswer(document, lambda: _template_values(document, request))


def _site(request: ScreenRequest) -> str | None:
    return request["site"].strip().lower() or None


def running_document(request: ScreenRequest) -> RunningDocument | None:
    running = request.state.clustering.running()
    if running is None:
        return None
    return {
        "phase": running.phase,
        "done": running.done,
        "total": running.total,
        "seconds": round(running.seconds, 3),
        "stopping": running.stopping,
    }


def _template_values(document: ClustersDocument, request: ScreenRequest) -> dict[str, Any]:
    clustering = document["clustering"]
    largest = max(map(int, clustering["sizes"]), default=0) if clustering else max(MIN_SIZES)  # of captures
    return {
        "heading": heading(document, request["min"], _site(request)),
        "linkage": linkage_sentence(document),
        "sizes": sorted({size for size in MIN_SIZES if size <= largest} | {2, request["min"]} - {1}),
        "sorts": SORTS,
        "filtered": request["min"] > 2 or _site(request) is not None,
        "default": round(100 * DEFAULT_THRESHOLD),
    }


def heading(document: ClustersDocument, min_size: int, site: str | None) -> str:
    if not document["pages"]:
        return "This store is empty"
    if document["clustering"] is None and not document["clusters"]:
        return f"{count_of(document['pages'], 'capture')}, not clustered yet"
    of_size = f" of {min_size:,} pages or more" if min_size > 2 else ""
    on_site = f" with a page on {one_line(site)}" if site else ""
    if not document["found"]:
        return f"No clusters{of_size}{on_site}"
    at_least = "At least " if document["among"] == MAX_CLUSTERS_SORTED else ""
    found = f"{at_least}{count_of(document['found'], 'cluster')}{of_size}{on_site}"
    return found if document["found"] == 1 else f"{found}, the largest with {count_of(document['largest'], 'page')}"


def linkage_sentence(document: ClustersDocument) -> str:
    """Say what the pages of a cluster have in common, by the way the clusters were found."""
    clustering = document["clustering"]
    if clustering is None:
        return ""
    threshold = compact_percent(clustering["threshold"])
    if clustering["linkage"] == "components":
        return f"Every page of a cluster resembles at least one other page of it by {threshold} or more."
    resembled = "representative" if clustering["representative"] == "earliest" else "earliest page"
    return f"Every page of a cluster resembles its {resembled} by {threshold} or more."


def left_out(document: ClustersDocument) -> str:
    return more_than_listed(document["found"] - len(document["clusters"]), "cluster")


def table(document: ClustersDocument) -> Iterator[Sequence[Cell]]:
    yield (
        "cluster",
        "pages",
        "sites",
        "texts",
        "lowest",
        "fetched_at",
        "site",
        "url",
        "title",
        "captures",
        "kind",
        "error",
    )
    for each in document["clusters"]:
        page = each["representative"]
        cells = (page["fetched_at"], page["site"], page["url"], page["title"]) if page else (None,) * 4
        counts = each["urls"], each["sites"], each["texts"], each["lowest"]
        yield each["id"], *counts, *cells, each["pages"], each["kind"], each["error"]


def start(_index: Index, request: ScreenRequest) -> str:
    text = request.form.get("t", "")
    try:
        threshold = THRESHOLD_FIELD.parse(text) if isinstance(text, str) and text else THRESHOLD_FIELD.default
    except ValueError as fault:
        raise ParameterError(f"t {fault}") from None
    request.state.clustering.start(threshold)
    return SCREEN.path


def stop(_index: Index, request: ScreenRequest) -> str:
    request.state.clustering.stop()
    return SCREEN.path


SCREEN = Screen(
    name="clusters",
    path="/clusters",
    api="/clusters",
    summary="The clusters of near-duplicate pages in the whole store",
    answer=answer,
    returns=ClustersDocument,
    table=table,
    left_out=left_out,
    parameters=(
        integer(
            "min",
            "minimum number of URLs in a cluster; 1 includes pages that only repeat themselves",
            default=2,
            minimum=1,
            maximum=1_000_000_000,
        ),
        choice(
            "sort",
            "by the number of URLs or of sites, most first; by the site of the representative; or by the resemblance of"
            " the least similar pair, lowest first",
            *SORTS,
        ),
        string("site", "only clusters with a page on this site", max_chars=300),
        integer("limit", "clusters on a page", default=50, minimum=1, maximum=1_000),
        integer("page", "which page of the list", default=1, minimum=1, maximum=MAX_CLUSTERS_SORTED),
    ),
)
START = Action(name="start-clustering", path="/clusters/start", summary="Find the clusters of the store now", act=start)
STOP = Action(name="stop-clustering", path="/clusters/stop", summary="Stop the clustering", act=stop)
