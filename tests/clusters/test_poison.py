"""Unrelated pages stay apart where other tools join them: along chains, and by common shingles."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from opensearch_winnow import compare
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.run import cluster_records
from tests.clusters.conftest import page_record, words, write_records
from tests.clusters.crowd import FAMILY, STRANGERS, strangers_and_a_family


def clusters_of(records: str, options: ClusteringOptions, output: Path, **settings: Any) -> dict[str, str]:
    """Return the representative of each URL."""
    cluster_records([records], options, RunSettings(output=str(output), **settings))
    table = pq.read_table(output)
    return dict(zip(table["url"].to_pylist(), table["representative"].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def chain() -> dict[str, str]:
    """400 texts of 300 shingles. Each resembles the next one (0.6), but not the one after that (0.33)."""
    every = words(Random(4), 400 * 75 + 309)
    return {f"https://chain.example/{page:03}": " ".join(every[page * 75 : page * 75 + 309]) for page in range(400)}


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_chain_is_split(tmp_path: Path, chain: dict[str, str], shuffled: bool) -> None:
    times = list(range(len(chain)))
    if shuffled:
        Random(5).shuffle(times)
    pages = [page_record(url, text, time=time) for (url, text), time in zip(chain.items(), times, strict=True)]
    records = write_records(tmp_path / "chain.parquet", pages)
    found = clusters_of(records, ClusteringOptions(), tmp_path / "clusters.parquet")
    assert found.keys() == chain.keys()
    assert max(Counter(found.values()).values()) <= 3
    for url, representative in found.items():
        assert compare(chain[url], chain[representative]).resemblance >= 0.5
    representatives = sorted(set(found.values()))
    for one, other in pairwise(representatives):
        assert compare(chain[one], chain[other]).resemblance < 0.5
    joined = clusters_of(records, ClusteringOptions(linkage="components"), tmp_path / "one.parquet")
    assert len(set(joined.values())) == 1


FAST = ClusteringOptions(fast=True, compared=4)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_records(tmp_path_factory.mktemp("crowd") / "crowd.parquet", strangers_and_a_family())


@pytest.mark.check
@pytest.mark.xdist_group("crowd")
@pytest.mark.parametrize(
    "options", [ClusteringOptions(), FAST, ClusteringOptions(linkage="components", compared=20)], ids=str
)
def test_a_template_joins_no_strangers_and_a_family_stays_together(
    tmp_path: Path, crowd: str, options: ClusteringOptions
) -> None:
    """Every token of the template is on all pages, and every token of the family is on most of its pages."""
    found = clusters_of(crowd, options, tmp_path / "clusters.parquet", memory="400MB")
    assert len(found) == STRANGERS + FAMILY
    family = {url: representative for url, representative in found.items() if url.startswith("https://family")}
    assert len(family) == FAMILY
    assert set(family.values()) == {"https://family.example/5"}
    assert all(url == representative for url, representative in found.items() if url not in family)


@pytest.mark.check
@pytest.mark.xdist_group("crowd")
def test_many_rows_are_the_same_for_any_number_of_threads(tmp_path: Path, crowd: str) -> None:
    written = set()
    for threads in (1, 2, 5):
        tables = [tmp_path / f"{name}-{threads}.parquet" for name in ("clusters", "edges")]
        output, evidence = map(str, tables)
        settings = RunSettings(output=output, evidence=evidence, threads=threads)
        found = cluster_records([crowd], FAST, settings)
        assert found.candidates.longest > FAMILY
        assert found.candidates.edges > FAMILY
        written.add(tuple(table.read_bytes() for table in tables))
    assert len(written) == 1
