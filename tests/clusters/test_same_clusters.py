"""DuckDB finds the clusters of the reference, however the records are ordered, divided into files and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings, strategies as st

from opensearch_winnow.clusters import schemas as tables
from opensearch_winnow.clusters.options import ClusteringOptions, Linkage
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from tests.clusters.conftest import SCHEMES, TABLES, Crawl, cluster_to_folder, small_crawl
from tests.clusters.reference import Row, expected_clusters, rounded

OPTIONS = st.builds(
    ClusteringOptions,
    threshold=st.sampled_from([0.1, 0.3, 0.5, 0.5, 0.8, 1.0]),
    linkage=st.sampled_from(["representatives", "components"]),
    fast=st.booleans(),
    compared=st.sampled_from([2, 3, 100]),
    representative=st.sampled_from(["earliest", "newest", "longest", "canonical", "site:b.example,a.example"]),
)


def rows(table: pa.Table | Sequence[Row]) -> list[Row]:
    """Return the rows in one order, rounded: the last bits of a square root differ in Python."""
    found = table.to_pylist() if isinstance(table, pa.Table) else table
    return sorted(map(rounded, found), key=lambda row: (row["capture"], row.get("other_capture", "")))


@pytest.mark.check
@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 60), st.sampled_from(SCHEMES), st.sampled_from([1, 1, 2, 3]), OPTIONS)
@example(0, 0, SCHEMES[0], 1, ClusteringOptions())
def test_same_as_the_reference(seed: int, count: int, scheme: Scheme, files: int, options: ClusteringOptions) -> None:
    crawl = small_crawl(seed, count, scheme, files)
    expected = expected_clusters(crawl.records, crawl.scheme, options)
    with TemporaryDirectory() as name:
        folder = Path(name)
        found = cluster_to_folder(crawl.write(folder), options, folder)
        written = {name: pq.read_table(folder / f"{name}.parquet") for name in TABLES}
    for name, schema in zip(TABLES, (tables.CLUSTERS, tables.EDGES, tables.CHANGES), strict=True):
        assert written[name].schema.equals(schema)
        assert rows(written[name]) == rows(getattr(expected, name))
    assert (found.expected_recall is None) != options.fast
    assert replace(found, engine="", seconds=0, expected_recall=None) == expected.result


def laid_out(records: Sequence[Record], crawl: Crawl, random: Random, folder: Path) -> list[str]:
    """Write the records in another order, in other files, and in row groups of other sizes."""
    shuffled = random.sample(records, len(records))
    cuts = sorted(random.sample(range(len(records)), 3))
    files = Crawl(crawl.scheme, [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]).write(folder)
    for path in files:
        table = pq.read_table(path)
        pq.write_table(table, path, row_group_size=random.choice([1, 7, 1_000]), write_page_checksum=True)
    return files


@pytest.mark.check
@pytest.mark.parametrize(("linkage", "shuffles"), [("representatives", 20), ("components", 5)])
def test_order_files_and_threads_do_not_matter(tmp_path: Path, linkage: Linkage, shuffles: int) -> None:
    crawl = small_crawl(8, 300, SCHEMES[0], 1)
    options = ClusteringOptions(linkage=linkage, compared=5)
    results: list[tuple[ClusteringResult, list[bytes]]] = []
    for seed in range(shuffles):
        folder = tmp_path / str(seed)
        folder.mkdir()
        random = Random(seed)
        records = laid_out(crawl.records, crawl, random, folder)
        found = cluster_to_folder(records, options, folder, threads=random.choice([None, 1, 2, 4]), memory="200MB")
        results.append((replace(found, seconds=0), [(folder / f"{name}.parquet").read_bytes() for name in TABLES]))
    assert results == results[:1] * shuffles
    assert results[0][0].clusters > 10
    assert results[0][0].candidates.common


def test_every_capture_is_a_row(tmp_path: Path) -> None:
    crawl = small_crawl(1, 100, SCHEMES[0], 2)
    cluster_to_folder(crawl.write(tmp_path), ClusteringOptions(), tmp_path)
    captures = pq.read_table(tmp_path / "clusters.parquet")["capture"].to_pylist()
    assert len(set(captures)) == len(captures) == len({record.id for record in crawl.records})
    assert len({record.url for record in crawl.records}) < len(captures)
