"""The clusters screen: near-duplicates of the whole store, largest cluster first, and the form that finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.answers.clusters_document import ClustersDocument, RunningDocument, clusters_document
from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.index import Index
from opensearch_winnow.queries.search_request import DEFAULT_THRESHOLD
from opensearch_winnow.web.parameters import ParameterError, integer, percentage
from opensearch_winnow.web.screen import Action, Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

MAX_CLUSTERS_REACHED = 10_000  # by paging: an engine returns no more
THRESHOLD_FIELD = percentage(
    "t", "minimum resemblance of a page to the representative of its cluster", default=round(100 * DEFAULT_THRESHOLD)
)
MIN_SIZES = (2, 3, 5, 10, 20, 50, 100)


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    limit, offset = request["limit"], (request["page"] - 1) * request["limit"]
    if offset + limit >= MAX_CLUSTERS_REACHED:
        raise ParameterError(f"page is at most {(MAX_CLUSTERS_REACHED - 1) // limit:,} with {limit:,} clusters on each")
    document = clusters_document(
        index,
        least=request["min"],
        limit=limit,
        offset=offset,
        running=running_document(request),
        failure=request.state.store.shorten(request.state.clustering.failure),
    )
    return ScreenAnswer(document, lambda: _template_values(document, request))


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
    largest = max((int(size) for size in clustering["sizes"]), default=0) if clustering else 0
    return {
        "heading": heading(document, request["min"]),
        "linkage": linkage_phrase(document),
        "sizes": [size for size in MIN_SIZES if size <= max(largest, request["min"])],
        "default": round(100 * DEFAULT_THRESHOLD),
    }


def heading(document: ClustersDocument, min_size: int) -> str:
    clustering = document["clustering"]
    if not document["pages"]:
        return "This store is empty"
    if clustering is None:
        if document["clusters"]:
            return f"Clusters of {count_of(document['pages'], 'page')}"
        return f"{count_of(document['pages'], 'page')}, not clustered yet"
    sizes = {int(size): clusters for size, clusters in clustering["sizes"].items() if int(size) >= min_size}
    clusters, pages = sum(sizes.values()), sum(size * count for size, count in sizes.items())
    of_size = f" of {min_size:,} pages or more" if min_size > 2 else ""
    if not clusters:
        return f"No cluster{of_size} among {count_of(clustering['pages'], 'page')}"
    return f"{count_of(clusters, 'cluster')}{of_size} · {pages:,} of {count_of(clustering['pages'], 'page')}"


def linkage_phrase(document: ClustersDocument) -> str:
    """Say what the pages of a cluster have in common, by the way the clusters were found."""
    clustering = document["clustering"]
    if clustering is None:
        return ""
    threshold = compact_percent(clustering["threshold"])
    if clustering["linkage"] == "components":
        return f"every page of a cluster resembles at least one other page of it by {threshold} or more"
    return f"every page of a cluster resembles its representative by {threshold} or more"


def table(document: ClustersDocument) -> Iterator[Sequence[Cell]]:
    yield "cluster", "pages", "sites", "texts", "lowest", "fetched_at", "site", "url", "title"
    for each in document["clusters"]:
        page = each["representative"]
        cells = (page["fetched_at"], page["site"], page["url"], page["title"]) if page else (None,) * 4
        yield each["id"], each["pages"], each["sites"], each["texts"], each["lowest"], *cells


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
    summary="The clusters of near-duplicate pages in the whole store, largest first",
    answer=answer,
    returns=ClustersDocument,
    table=table,
    parameters=(
        integer("min", "minimum number of pages in a cluster", default=2, minimum=2, maximum=1_000_000_000),
        integer("limit", "clusters on a page", default=50, minimum=1, maximum=1_000),
        integer("page", "which page of the list", default=1, minimum=1, maximum=MAX_CLUSTERS_REACHED),
    ),
)
START = Action(name="start-clustering", path="/clusters/start", summary="Find the clusters of the store now", act=start)
STOP = Action(name="stop-clustering", path="/clusters/stop", summary="Stop the clustering", act=stop)
