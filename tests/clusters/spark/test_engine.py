"""Spark finds the clusters of the reference and of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opensearch_winnow.clusters import schemas as tables
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.spark.engine import cluster_on_spark
from opensearch_winnow.mappings.record import NO_HASHES
from tests.clusters.conftest import SCHEMES, Crawl, cluster_to_folder, page_record, small_crawl, write_records
from tests.clusters.reference import expected_clusters, rounded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("spark")]
SCHEMA = {"clusters": tables.CLUSTERS, "edges": tables.EDGES, "changes": tables.CHANGES}


def on_spark(spark: SparkSession, records: Sequence[str], options: ClusteringOptions, folder: Path) -> ClusteringResult:
    output, evidence, changes = (str(folder / name) for name in SCHEMA)
    settings = RunSettings(output=output, evidence=evidence, changes=changes)
    return cluster_on_spark(records, options, settings, session=spark)


def in_order(path: Path) -> pa.Table:
    table = pq.read_table(path).replace_schema_metadata(None)
    return table.sort_by([(name, "ascending") for name in table.column_names])


CHAINS = ClusteringOptions(threshold=0.3, linkage="components", compared=3)
BY_LENGTH = ClusteringOptions(threshold=0.3, linkage="components", representative="longest")
PREFERRED = ClusteringOptions(representative="site:b.example,0.example")


@pytest.mark.parametrize(
    ("crawl", "options"),
    [
        pytest.param(small_crawl(1, 150, SCHEMES[0], 3), ClusteringOptions(), id="files with captures in common"),
        pytest.param(small_crawl(2, 100, SCHEMES[1], 1), CHAINS, id="chains, and more than are compared"),
        pytest.param(small_crawl(3, 100, SCHEMES[1], 2), ClusteringOptions(fast=True, compared=2), id="bands alone"),
        pytest.param(Crawl(SCHEMES[0], [[]]), ClusteringOptions(), id="nothing"),
        pytest.param(small_crawl(4, 120, SCHEMES[0], 1), BY_LENGTH, id="the longest"),
        pytest.param(small_crawl(5, 120, SCHEMES[0], 1), PREFERRED, id="preferred sites"),
        pytest.param(small_crawl(6, 80, SCHEMES[0], 1), ClusteringOptions(representative="newest"), id="the newest"),
        pytest.param(small_crawl(7, 80, SCHEMES[0], 2), ClusteringOptions(representative="canonical"), id="canonical"),
    ],
)
def test_same_as_the_reference_and_duckdb(
    spark: SparkSession, tmp_path: Path, crawl: Crawl, options: ClusteringOptions
) -> None:
    records = crawl.write(tmp_path)
    expected = expected_clusters(crawl.records, crawl.scheme, options)
    found = on_spark(spark, records, options, tmp_path)
    on_one_machine = cluster_to_folder(records, options, tmp_path)
    assert replace(found, engine="duckdb", seconds=on_one_machine.seconds) == on_one_machine
    assert replace(found, engine="", expected_recall=None) == expected.result
    for name, schema in SCHEMA.items():
        table = in_order(tmp_path / name)
        assert table.schema.equals(schema)
        assert table.equals(in_order(tmp_path / f"{name}.parquet"))
        wanted = pa.Table.from_pylist(getattr(expected, name), schema)
        found_rows, wanted_rows = (map(rounded, each.to_pylist()) for each in (table, wanted))
        assert sorted(map(repr, found_rows)) == sorted(map(repr, wanted_rows))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_pages_are_in_their_order_whatever_is_strange_about_them(spark: SparkSession, tmp_path: Path) -> None:
    """Times before 1582, file names that look like patterns or are encoded in URIs, and pages without text.

    The settings of a session are restored afterwards, and an existing output is replaced with `overwrite`.
    """
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    output = tmp_path / "clusters"
    output.mkdir()
    (output / "mine.txt").write_text("mine")
    folder = tmp_path / "a b%20ü[1]*"
    folder.mkdir()
    words = " ".join(f"word{number}" for number in range(50))
    pages = [page_record(f"https://example.org/{name}", words) for name in ("ancient", "unknown")]
    pages.insert(0, page_record("https://example.org/late", words, time=10))
    pages.append(page_record("https://example.org/none", ""))
    pages[1].fetched_at = datetime(1, 1, 1, tzinfo=UTC)
    for number, page in enumerate(pages):
        write_records(folder / f"part {number}*.parquet", [page])
    try:
        settings = RunSettings(output=str(output), overwrite=True, work=str(tmp_path))
        found = cluster_on_spark([str(folder)], ClusteringOptions(), settings, session=spark)
        assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Kathmandu"
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    table = pq.read_table(tmp_path / "clusters").sort_by("url").to_pylist()
    assert [row["representative"].rpartition("/")[2] for row in table] == ["ancient", "ancient", "none", "ancient"]
    assert table[0]["fetched_at"] == datetime(1, 1, 1, tzinfo=UTC)
    assert (found.pages, found.contents, found.clusters) == (4, 2, 1)
    assert not (output / "mine.txt").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name, "clusters"]


def test_revisits_are_with_the_pages_that_they_repeat(spark: SparkSession, tmp_path: Path) -> None:
    """The page comes after the revisits, and in another file; one revisit repeats an unknown page."""
    scheme = SCHEMES[0]
    text = " ".join(f"word{number}" for number in range(300))
    pages = [page_record(f"http://{name}.example/", text, scheme) for name in ("original", "again", "timely", "lost")]
    original, *revisits = (replace(page, payload_digest="sha1:A", fetched_at=DAY, cluster="") for page in pages)
    again, timely, lost = (
        replace(each, text="", hashes=NO_HASHES, content_digest="", duplicate="revisit", duplicate_of=each.url)
        for each in revisits
    )
    timely = replace(timely, payload_digest=None, duplicate_of=original.url)
    lost = replace(lost, payload_digest="sha1:B")
    write_records(tmp_path / "a.parquet", [again, timely, lost], scheme)
    write_records(tmp_path / "b.parquet", [original], scheme)
    records = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    on_spark(spark, records, ClusteringOptions(), tmp_path)
    cluster_to_folder(records, ClusteringOptions(), tmp_path)
    for found in (in_order(tmp_path / "clusters"), in_order(tmp_path / "clusters.parquet")):
        clusters = {row["url"]: row["cluster"] for row in found.to_pylist()}
        assert clusters == {**dict.fromkeys((each.url for each in pages), clusters[original.url]), lost.url: lost.id}


DAY = datetime(2024, 1, 1, tzinfo=UTC)
