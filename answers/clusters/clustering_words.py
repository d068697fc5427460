"""Sentences about a clustering: the clusters it found, and the pairs it compared and left out."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import compact_percent, count_of, percent
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import Candidates, ClusteringResult

MIN_RECALL = 0.9  # a --fast run with a lower expected recall gets a warning


def pages_and_contents(result: ClusteringResult) -> str:
    pages = count_of(result.pages, "page (capture)", "pages (captures)")
    fresh = "" if result.fresh is None else f", {result.fresh:,} of them new"
    return f"{pages}, {result.contents:,} of them distinct{fresh}"


def clusters_and_pages(result: ClusteringResult) -> str:
    single = result.pages - result.clustered_pages
    alone = (
        f"{count_of(single, 'page has', 'pages have')} no near-duplicate"
        if single
        else "every page has a near-duplicate"
    )
    if not result.clusters:
        return f"no clusters: {alone}"
    clusters = f"{count_of(result.clusters, 'cluster')} with {result.clustered_pages:,} pages; {alone}"
    if not result.identical_clusters:
        return clusters
    identical = f"{count_of(result.identical_clusters, 'cluster')} ({result.identical_pages:,} pages)"
    return f"{clusters}; {identical} {'has' if result.identical_clusters == 1 else 'have'} identical pages only"


def cluster_definition(options: ClusteringOptions) -> str:
    threshold = compact_percent(options.threshold)
    if options.linkage == "components":
        return f"in a cluster: pages connected by resemblances ≥ {threshold}, in chains of any length (components)"
    resembled = "representative" if options.other_representative is None else "earliest page"
    return f"in a cluster: pages that resemble its {resembled}, ≥ {threshold}"


def compared_pairs(candidates: Candidates, options: ClusteringOptions) -> str:
    shared = "a band" if options.fast else "a band or a shingle of their sketches"
    by_text = f", {candidates.exact:,} of them by their texts" if candidates.exact else ""
    return (
        f"{count_of(candidates.compared, 'pair was', 'pairs were')} compared{by_text}: contents that share {shared}."
        " Below the threshold there may be many more pairs, which were not compared."
    )


def left_out_pairs(candidates: Candidates, options: ClusteringOptions) -> str:
    one, many = ("band is", "bands are") if options.fast else ("band or shingle is", "bands and shingles are")
    if not candidates.left_out:
        return f"No pairs were left out: no {one} on too many contents."
    several = f"more than {options.compared + 1:,} contents each, one of them on {candidates.longest:,}"
    where = f"{candidates.longest:,} contents" if candidates.common == 1 else several
    return (
        f"{count_of(candidates.common, one, many)} on {where}. A page was compared with only {options.compared:,} of"
        f" the earlier pages that share it, the first and the last ones, which left out"
        f" {count_of(candidates.left_out, 'pair')} unless another band or shingle proposed them. --compared N compares"
        " more."
    )


def expected_recall(recall: float) -> str:
    return f"--fast is expected to find {percent(recall)} of the pairs at or above the threshold."


def low_recall_warning(recall: float) -> str:
    return (
        f"Warning: --fast is expected to find only {percent(recall)} of the pairs at or above the threshold."
        " Run without it to find more."
    )


def store_update(result: ClusteringResult) -> str:
    """Say how many pages of the store got a new cluster."""
    if result.changed is None:
        return "unchanged: this was a dry run"
    return f"{count_of(result.changed, 'page')} got a new cluster"


def plot_subtitle(options: ClusteringOptions, result: ClusteringResult) -> str:
    """Return the result and the options in one line."""
    clusters = count_of(result.clusters, "cluster")
    pages = f"{count_of(result.pages, 'page')}, {result.clustered_pages:,} of them in {clusters}"
    choices = ", components" * (options.linkage == "components") + ", fast" * options.fast
    return f"{pages} · resemblance ≥ {compact_percent(options.threshold)}{choices} · scheme {result.scheme}"
