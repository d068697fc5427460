"""What glues pages together that have nothing to do with each other, in other tools: chains, and common shingles."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from opensearch_winnow import compare
from opensearch_winnow.clusters.asked import Clustering
from opensearch_winnow.clusters.run import cluster_records
from tests.clusters.conftest import page_record, words, write_records
from tests.clusters.crowd import FAMILY, STRANGERS, strangers_and_a_family


def clusters_of(records: str, asked: Clustering, output: Path, **options: Any) -> dict[str, str]:
    """The representative of each URL."""
    cluster_records([records], asked, output=str(output), **options)
    table = pq.read_table(output)
    return dict(zip(table["url"].to_pylist(), table["representative"].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def chain() -> dict[str, str]:
    """400 texts of 300 shingles, each of which resembles the next (.6), and the one after that no more (.33)."""
    every = words(Random(4), 400 * 75 + 309)
    return {f"https://chain.example/{page:03}": " ".join(every[page * 75 : page * 75 + 309]) for page in range(400)}


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_chain_is_split(tmp_path: Path, chain: dict[str, str], shuffled: bool) -> None:
    """Every page resembles its representative, and no two representatives resemble each other."""
    times = list(range(len(chain)))
    if shuffled:
        Random(5).shuffle(times)
    pages = [page_record(url, text, time=time) for (url, text), time in zip(chain.items(), times, strict=True)]
    records = write_records(tmp_path / "chain.parquet", pages)
    found = clusters_of(records, Clustering(), tmp_path / "clusters.parquet")
    assert found.keys() == chain.keys()
    assert max(Counter(found.values()).values()) <= 3
    for url, representative in found.items():
        assert compare(chain[url], chain[representative]).resemblance >= 0.5
    representatives = sorted(set(found.values()))
    for one, other in pairwise(representatives):
        assert compare(chain[one], chain[other]).resemblance < 0.5
    assert len(set(clusters_of(records, Clustering(linkage="components"), tmp_path / "one.parquet").values())) == 1


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_records(tmp_path_factory.mktemp("crowd") / "crowd.parquet", strangers_and_a_family())


@pytest.mark.check
@pytest.mark.xdist_group("crowd")
@pytest.mark.parametrize(
    "asked", [Clustering(), Clustering(fast=True, compared=4), Clustering(linkage="components", compared=20)], ids=str
)
def test_a_template_joins_no_strangers_and_a_family_stays_together(
    tmp_path: Path, crowd: str, asked: Clustering
) -> None:
    """Although every token of the template is on all pages, and every one of the family on most of its own."""
    found = clusters_of(crowd, asked, tmp_path / "clusters.parquet", memory="400MB")
    assert len(found) == STRANGERS + FAMILY
    family = {url: representative for url, representative in found.items() if url.startswith("https://family")}
    assert len(family) == FAMILY
    assert set(family.values()) == {"https://family.example/5"}
    assert all(url == representative for url, representative in found.items() if url not in family)


@pytest.mark.check
@pytest.mark.xdist_group("crowd")
def test_many_rows_are_the_same_for_any_number_of_threads(tmp_path: Path, crowd: str) -> None:
    """To the last byte of the files."""
    written = set()
    for threads in (1, 2, 5):
        tables = [tmp_path / f"{name}-{threads}.parquet" for name in ("clusters", "edges")]
        output, evidence = map(str, tables)
        found = cluster_records(
            [crowd], Clustering(fast=True, compared=4), output=output, evidence=evidence, threads=threads
        )
        assert found.candidates.longest > FAMILY
        assert found.candidates.edges > FAMILY
        written.add(tuple(table.read_bytes() for table in tables))
    assert len(written) == 1
