"""The clusters screen: near-duplicates of the whole store, sorted and filtered, and the form that finds them."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.answers.clusters.store_clusters import StoreClusters
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import compact_percent, count_of, more_than_listed
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.index import Index
from opensearch_winnow.operations.clusters.cluster_list import MAX_CLUSTERS_SORTED, ClusterListOptions
from opensearch_winnow.web.parameters import ParameterError, integer, of_options
from opensearch_winnow.web.screen import Action, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

(THRESHOLD,) = of_options(ClusteringOptions, "threshold")
MIN_SIZES = (2, 3, 5, 10, 20, 50, 100)
ORDERS = {"size": "most pages", "spread": "most sites", "site": "site, A to Z", "lowest": "least alike"}


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    running = request.state.clustering.running()
    clusters = index.cluster_list(
        request.options(
            ClusterListOptions,
            offset=(request["page"] - 1) * request["limit"],
            compare=running is None,  # while a run is in progress the list is reloaded every few seconds
        )
    )
    found = clusters.extended(
        StoreClusters,
        pages=index.count(),
        clustering=index.clustering(),
        running=running,
        failure=request.state.clustering.failure or None,
    )
    return ScreenAnswer(found, lambda: _template_values(found, request))


def _template_values(found: StoreClusters, request: ScreenRequest) -> dict[str, Any]:
    clustering, min_urls = found.clustering, request["min_urls"]
    largest = clustering.largest if clustering else max(MIN_SIZES)  # of captures
    return {
        "heading": heading(found, min_urls, request["site"]),
        "linkage": linkage_sentence(found),
        "sizes": sorted({size for size in MIN_SIZES if size <= largest} | {2, min_urls} - {1}),
        "orders": ORDERS,
        "filtered": min_urls > 2 or request["site"],
        "default": THRESHOLD.default,
    }


def heading(found: StoreClusters, min_size: int, site: str | None) -> str:
    if not found.pages:
        return "This store is empty"
    if found.clustering is None and not found.clusters:
        return f"{count_of(found.pages, 'capture')}, not clustered yet"
    of_size = f" of {min_size:,} pages or more" if min_size > 2 else ""
    on_site = f" with a page on {one_line(site)}" if site else ""
    if not found.found:
        return f"No clusters{of_size}{on_site}"
    at_least = "At least " if found.among == MAX_CLUSTERS_SORTED else ""
    clusters = f"{at_least}{count_of(found.found, 'cluster')}{of_size}{on_site}"
    return clusters if found.found == 1 else f"{clusters}, the largest with {count_of(found.largest, 'page')}"


def linkage_sentence(found: StoreClusters) -> str:
    """Say how the pages of a cluster resemble each other, by the linkage that found the clusters."""
    if found.clustering is None:
        return ""
    threshold = compact_percent(found.clustering.threshold)
    if found.clustering.linkage == "components":
        return f"Every page of a cluster resembles at least one other page of it by {threshold} or more."
    resembled = "representative" if found.clustering.representative == "earliest" else "earliest page"
    return f"Every page of a cluster resembles its {resembled} by {threshold} or more."


def left_out(found: StoreClusters) -> str:
    return more_than_listed(found.found - len(found), "cluster")


def start(_index: Index, request: ScreenRequest) -> str:
    text = request.form.get(THRESHOLD.name, "")
    try:
        threshold = THRESHOLD.parse(text) if isinstance(text, str) and text else THRESHOLD.default
    except ValueError as fault:
        raise ParameterError(f"{THRESHOLD.name} {fault}") from None
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
    returns=StoreClusters,
    left_out=left_out,
    parameters=(
        *of_options(ClusterListOptions, defaults={"limit": 50}, at_most={"limit": 1_000}),
        integer("page", "page of the list", default=1, minimum=1, maximum=MAX_CLUSTERS_SORTED),
    ),
)
START = Action(name="start-clustering", path="/clusters/start", summary="Find the clusters of the store now", act=start)
STOP = Action(name="stop-clustering", path="/clusters/stop", summary="Stop the clustering", act=stop)
