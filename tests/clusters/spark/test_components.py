"""Connected components are found in few rounds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from opensearch_winnow.clusters.spark import linkage as module
from opensearch_winnow.clusters.spark.hadoop_files import HadoopFiles
from opensearch_winnow.clusters.spark.linkage import components
from opensearch_winnow.clusters.spark.outputs import Scratch
from tests.cython_core.reference import labels

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("spark")]


@pytest.fixture
def scratch(spark: SparkSession, tmp_path: Path) -> Iterator[Scratch]:
    scratch = Scratch(spark, HadoopFiles(spark), str(tmp_path / "scratch"))
    yield scratch
    scratch.close()
    assert list(tmp_path.iterdir()) == []


def components_of(spark: SparkSession, edges: list[tuple[int, int]], scratch: Scratch) -> dict[int, int]:
    table = spark.createDataFrame(edges, "smaller int, larger int")
    rows = components(table, scratch).collect()
    assert len(rows) == len({row["number"] for row in rows})
    return {row["number"]: row["component"] for row in rows}


def test_same_as_the_reference_and_no_edges(spark: SparkSession, scratch: Scratch) -> None:
    """Sparse random graphs have components of all sizes; a tree, a ring and a star besides."""
    random = Random(8)
    edges = {(min(a, b), max(a, b)) for a, b in (random.sample(range(300), 2) for _ in range(130))}
    edges |= {(300 + place // 2, 301 + place) for place in range(60)}
    edges |= {(400 + place, 401 + place) for place in range(50)} | {(400, 450)}
    edges |= {(500, 501 + place) for place in range(100)}
    expected = labels(700, sorted(edges))
    pages = {page for edge in edges for page in edge}
    assert components_of(spark, sorted(edges), scratch) == {page: expected[page] for page in pages}
    assert components_of(spark, [], scratch) == {}


def test_a_long_chain_takes_few_rounds(spark: SparkSession, scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The logarithm of its length, whatever the order of the numbers on it."""
    monkeypatch.setattr(module, "MAX_ROUNDS", 12)
    random = Random(1)
    shuffled = random.sample(range(2_000), 2_000)
    chains = [*pairwise(range(2_000))]
    chains += [(2_000 + min(a, b), 2_000 + max(a, b)) for a, b in pairwise(shuffled)]
    expected = {page: 2_000 * (page >= 2_000) for page in range(4_000)}
    assert components_of(spark, chains, scratch) == expected
