"""What a clustering has found, and what it has not looked at, in sentences."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import compact_percent, count_of, percent
from opensearch_winnow.clusters.asked import Clustering
from opensearch_winnow.clusters.found import Candidates, Found

ENOUGH = 0.9  # of the pairs: a quick run that finds fewer is not what most want


def pages_and_contents(found: Found) -> str:
    pages = count_of(found.pages, "page (capture)", "pages (captures)")
    fresh = "" if found.fresh is None else f", {found.fresh:,} of them new"
    return f"{pages} with {count_of(found.contents, 'different content')}{fresh}"


def clusters_and_pages(found: Found) -> str:
    alone = found.pages - found.clustered_pages
    lonely = "1 page is alone" if alone == 1 else f"{alone:,} pages are alone" if alone else "no page is alone"
    if not found.clusters:
        return f"no cluster: {lonely}"
    clusters = f"{count_of(found.clusters, 'cluster')} with {found.clustered_pages:,} pages; {lonely}"
    if not found.identical_clusters:
        return clusters
    is_or_are = "is" if found.identical_clusters == 1 else "are"
    identical = f"{found.identical_clusters:,} of the clusters, with {found.identical_pages:,} pages, {is_or_are}"
    return f"{clusters}; {identical} of identical pages only"


def what_a_cluster_is(asked: Clustering) -> str:
    least = compact_percent(asked.threshold)
    if asked.linkage == "components":
        return f"in a cluster: pages that hang together by resemblances ≥ {least}, in chains too (components)"
    return f"in a cluster: pages that resemble its representative, ≥ {least}"


def what_was_compared(candidates: Candidates, asked: Clustering) -> str:
    share = "a band" if asked.fast else "a band, or a shingle of their sketches"
    by_text = f", {candidates.exact:,} of them by their texts" if candidates.exact else ""
    return (
        f"{count_of(candidates.compared, 'pair was', 'pairs were')} compared{by_text}: contents that share {share}."
        " Of pairs below the threshold only these are counted, and there may be many more."
    )


def what_was_left_out(candidates: Candidates, asked: Clustering) -> str:
    one, many = ("band is", "bands are") if asked.fast else ("band or shingle is", "bands and shingles are")
    if not candidates.left_out:
        return f"No {one} so common that pairs were left out."
    several = f"more than {asked.compared + 1:,} contents each, one of them on {candidates.longest:,}"
    where = f"{candidates.longest:,} contents" if candidates.common == 1 else several
    return (
        f"{count_of(candidates.common, one, many)} on {where}: a page was compared with only {asked.compared:,} of the"
        f" earlier ones that have it, the first and the last, so that"
        f" {count_of(candidates.left_out, 'pair was', 'pairs were')} left for others to propose (--compared N looks at"
        " more)."
    )


def expected_recall(recall: float) -> str:
    return f"Of the pairs at or above the threshold --fast is expected to find {percent(recall)}."


def recall_is_low(recall: float) -> str:
    return (
        f"Warning: --fast is expected to find only {percent(recall)} of the pairs at or above the threshold;"
        " leave it out to find more."
    )


def told(found: Found) -> str:
    """Of the store."""
    if found.changed is None:
        return "is told nothing: a dry run"
    return f"{count_of(found.changed, 'page has', 'pages have')} another cluster now"


def about(asked: Clustering, found: Found) -> str:
    """In one line."""
    pages = (
        f"{count_of(found.pages, 'page')}, {found.clustered_pages:,} of them in {count_of(found.clusters, 'cluster')}"
    )
    how = ", components" * (asked.linkage == "components") + ", fast" * asked.fast
    return f"{pages} · resemblance ≥ {compact_percent(asked.threshold)}{how} · scheme {found.scheme}"
