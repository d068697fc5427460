"""The clusters of an index, on both kinds of store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import LastClustering
from tests.test_index import near, prose


@pytest.fixture(params=["embedded", "opensearch"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An index of six pages: a cluster of three, a cluster of two, and one alone. All name the second as canonical."""
    name = str(tmp_path / "crawl.winnow")
    if request.param == "opensearch":
        name = f"{request.getfixturevalue('engine').url}/clusters-{uuid4().hex}"
    texts = {name: prose(name[0], 200) for name in ("a1", "a2", "a3", "b1", "b2", "c1")}
    with Index.open(name) as index:
        index.add(
            (
                Page(
                    f"https://{name[1]}.example/{name}",
                    text=near(text, name, 2),
                    fetched_at=_day(name),
                    canonical=f"https://2.example/{name[0]}2",
                )
                for name, text in texts.items()
            ),
            failed=tmp_path / "failed.jsonl",
        )
        yield index


def _day(name: str) -> datetime:
    return datetime(2024, 1, int(name[1]), tzinfo=UTC)


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
        *(
            pytest.param(*each, marks=pytest.mark.check)
            for each in (("canonical", 2), ("site:2.example", 2), ("site:9.example", 1))
        ),
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


def test_the_stored_result_is_bounded(tmp_path: Path) -> None:
    long = "x" * 80_000
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add([Page(f"https://example.org/{name}", text=prose(1, 100), title=long) for name in "ab"])
        found = index.cluster()
        assert found.largest_clusters[0].title == long
        kept = index.clustering()
    assert kept is not None
    assert (kept.clusters, kept.largest_clusters) == (1, [])
