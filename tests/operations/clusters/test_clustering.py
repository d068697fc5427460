"""The clusters of an index, on both kinds of store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import LastClustering
from tests.test_index import near, prose


@pytest.fixture
def index(empty_index: Index) -> Index:
    """An index of six pages: a cluster of three, a cluster of two, and one alone. All name the second as canonical."""
    for cluster, day in ("a1", "a2", "a3", "b1", "b2", "c1"):
        url, text = f"https://{day}.example/{cluster}{day}", near(prose(cluster, 200), f"{cluster}{day}", 2)
        canonical, time = f"https://2.example/{cluster}2", datetime(2024, 1, int(day), tzinfo=UTC)
        empty_index.add([Page(url, text=text, fetched_at=time, canonical=canonical)])
    return empty_index


def test_an_index_has_no_clusters_before_the_first_run(index: Index) -> None:
    assert index.clustering() is None
    assert index.clusters() == []
    assert index.cluster(write_back=False).clusters == 2
    assert index.clustering() is None
    assert index.clusters() == []


def test_the_last_clustering_is_stored(index: Index) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    found = index.cluster(threshold=0.4, fast=True)
    kept = index.clustering()
    assert kept is not None
    assert before <= kept.at <= datetime.now(UTC)
    assert kept == replace(LastClustering.of(found, ClusteringOptions(threshold=0.4, fast=True)), at=kept.at)
    listed = index.clusters()
    assert [(size.pages, size.sites) for size in listed] == [(3, 3), (2, 2)]
    assert [size.cluster for size in listed] == [each.cluster for each in kept.largest_clusters]
    assert index.clusters(limit=1, offset=1) == index.clusters(offset=1) == listed[1:]
    assert index.clusters(min_pages=3) == listed[:1]
    pages = index.cluster_pages(listed[0].cluster)
    assert [card.url for card in pages] == [f"https://{n}.example/a{n}" for n in (1, 2, 3)]
    assert pages[0].id == listed[0].cluster
    assert index.cluster_pages(listed[0].cluster, limit=1, offset=1) == pages[1:2]
    index.cluster(threshold=1.0)
    assert index.clustering() != kept
    assert index.clusters() == []


@pytest.mark.parametrize(
    ("rule", "number"),
    [
        ("newest", 3),
        pytest.param("canonical", 2, marks=pytest.mark.check),
        pytest.param("site:2.example", 2, marks=pytest.mark.check),
        pytest.param("site:9.example", 1, marks=pytest.mark.check),
    ],
)
def test_the_representative_is_chosen(index: Index, rule: str, number: int) -> None:
    index.cluster(representative=rule)
    largest = index.clusters()[0]
    urls = {card.id: card.url for card in index.cluster_pages(largest.cluster)}
    assert (largest.pages, urls[largest.cluster]) == (3, f"https://{number}.example/a{number}")
    kept = index.clustering()
    assert kept is not None
    assert (kept.representative, kept.largest_clusters[0].url) == (rule, urls[largest.cluster])
    assert index.cluster(representative=rule).changed == 0
    assert index.cluster().changed == (5 if rule == "newest" else 5 if number == 2 else 0)


def test_the_stored_result_is_bounded(file_index: Index) -> None:
    long = "x" * 80_000
    file_index.add([Page(f"https://example.org/{name}", text=prose(1, 100), title=long) for name in "ab"])
    assert file_index.cluster().largest_clusters[0].title == long
    kept = file_index.clustering()
    assert kept is not None
    assert (kept.clusters, kept.largest_clusters) == (1, [])
