"""Clusters: the near-duplicates of the whole store, the largest first; and how to have them found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.answers.clusters_document import ClustersDocument, RunningDocument, clusters_document
from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.index import Index
from opensearch_winnow.queries.cursors import DEFAULT_THRESHOLD
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.parameters import ParameterError, number, percentage
from opensearch_winnow.web.screen import Action, Answered, Cell, Screen

FARTHEST = 10_000  # cluster that can be looked at: no engine tells of more
CHOICE = percentage(
    "t", "how much a page resembles the representative of its cluster, at least", default=round(100 * DEFAULT_THRESHOLD)
)
SIZES = (2, 3, 5, 10, 20, 50, 100)


def answer(index: Index, asked: Asked) -> Answered:
    limit, offset = asked["limit"], (asked["page"] - 1) * asked["limit"]
    if offset + limit >= FARTHEST:
        raise ParameterError(f"page is at most {(FARTHEST - 1) // limit:,} with {limit:,} clusters on each")
    document = clusters_document(
        index,
        least=asked["min"],
        limit=limit,
        offset=offset,
        running=_running(asked),
        failure=asked.kept.clustering.failure,
    )
    return Answered(document, lambda: _shown(document, asked))


def _running(asked: Asked) -> RunningDocument | None:
    running = asked.kept.clustering.running()
    if running is None:
        return None
    return {
        "phase": running.phase,
        "done": running.done,
        "total": running.total,
        "seconds": round(running.seconds, 3),
        "stopping": running.stopping,
    }


def _shown(document: ClustersDocument, asked: Asked) -> dict[str, Any]:
    clustering = document["clustering"]
    most = max((int(size) for size in clustering["sizes"]), default=0) if clustering else 0
    return {
        "heading": heading(document, asked["min"]),
        "held_together": held_together(document),
        "sizes": [size for size in SIZES if size <= max(most, asked["min"])],
        "default": round(100 * DEFAULT_THRESHOLD),
    }


def heading(document: ClustersDocument, least: int) -> str:
    clustering = document["clustering"]
    if not document["pages"]:
        return "This store is empty"
    if clustering is None:
        if document["clusters"]:
            return f"Clusters of {count_of(document['pages'], 'page')}"
        return f"{count_of(document['pages'], 'page')}, not clustered yet"
    sizes = {int(size): clusters for size, clusters in clustering["sizes"].items() if int(size) >= least}
    clusters, pages = sum(sizes.values()), sum(size * count for size, count in sizes.items())
    of_size = f" of {least:,} pages or more" if least > 2 else ""
    if not clusters:
        return f"No cluster{of_size} among {count_of(clustering['pages'], 'page')}"
    return f"{count_of(clusters, 'cluster')}{of_size} · {pages:,} of {count_of(clustering['pages'], 'page')}"


def held_together(document: ClustersDocument) -> str:
    """What a cluster is, by the last clustering."""
    clustering = document["clustering"]
    if clustering is None:
        return ""
    least = compact_percent(clustering["threshold"])
    if clustering["linkage"] == "components":
        return f"pages of a cluster hang together by resemblances of {least} or more, in chains too"
    return f"every page of a cluster resembles its representative by {least} or more"


def table(document: ClustersDocument) -> Iterator[Sequence[Cell]]:
    yield "cluster", "pages", "sites", "texts", "lowest", "fetched_at", "site", "url", "title"
    for each in document["clusters"]:
        page = each["representative"]
        shown = (page["fetched_at"], page["site"], page["url"], page["title"]) if page else (None,) * 4
        yield each["id"], each["pages"], each["sites"], each["texts"], each["lowest"], *shown


def start(_index: Index, asked: Asked) -> str:
    given = asked.form.get("t", "")
    try:
        threshold = CHOICE.read(given) if isinstance(given, str) and given else CHOICE.default
    except ValueError as fault:
        raise ParameterError(f"t {fault}") from None
    asked.kept.clustering.start(threshold)
    return SCREEN.path


def stop(_index: Index, asked: Asked) -> str:
    asked.kept.clustering.stop()
    return SCREEN.path


SCREEN = Screen(
    name="clusters",
    path="/clusters",
    api="/clusters",
    about="The clusters of near-duplicate pages of the whole store, the largest first",
    answer=answer,
    returns=ClustersDocument,
    table=table,
    parameters=(
        number("min", "pages of a cluster, at least", default=2, least=2, most=1_000_000_000),
        number("limit", "clusters on a page", default=50, least=1, most=1_000),
        number("page", "which page of clusters", default=1, least=1, most=FARTHEST),
    ),
)
START = Action(name="start-clustering", path="/clusters/start", about="Find the clusters of the store now", act=start)
STOP = Action(name="stop-clustering", path="/clusters/stop", about="Stop the clustering that is going on", act=stop)
