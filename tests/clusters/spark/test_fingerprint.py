"""Raw pages become records and clusters on Spark."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.spark.engine import cluster_on_spark
from opensearch_winnow.clusters.spark.fingerprint import fingerprint_on_spark
from opensearch_winnow.clusters.spark.page_outcomes import copy_to_folder, is_remote
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.index_splits import index
from opensearch_winnow.ingest.runs.parquet_writer import ParquetWriter
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.ingest.sources.splits import splits
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.reader import scheme_of
from opensearch_winnow.record_files.records import read_records
from tests.ingest.conftest import html, response

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("spark")]
BASE = "https://mirror.example/"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """An archive with copies, a picture and damage; JSON lines with a bad page and a capture twice; a table; a page."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    urls = [f"https://example.org/{number}" for number in range(4)]
    archived = [response(url, html(number % 3), {"Content-Type": "text/html"}) for number, url in enumerate(urls)]
    archived.append(response("https://example.org/picture", b"\x89PNG", {"Content-Type": "image/png"}))
    (folder / "pages.warc").write_bytes(b"".join(archived) + b"no record at all\r\n" + archived[0])
    five = {"url": "https://example.org/5", "html": html(5).decode()}
    lines = [five, {"url": "https://example.org/6", "text": 7}, {**five, "html": html(6).decode()}]
    (folder / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "page.html").write_bytes(html(1))
    table = {"url": ["https://example.org/table", None], "html": [html(2), html(3)], "other": [1, 2]}
    pq.write_table(pa.table(table), tmp_path / "table.parquet")
    return folder


def indexed(names: list[str], recipe: Recipe, folder: Path) -> list[Record]:
    """Return the records that `winnow index` makes, without its marks on duplicates."""
    with (
        Sources(names, base=BASE) as sources,
        ParquetWriter(folder / "indexed.parquet", recipe.scheme) as writer,
        FailedPages(folder / "failed.jsonl") as failed,
    ):
        index(splits(sources, 1_000_000), writer, failed, recipe)
    found = sorted(read_records(folder / "indexed.parquet"), key=lambda record: record.url)
    return [replace(record, duplicate=None, duplicate_of=None) for record in found]


def test_from_pages_to_clusters(
    spark: SparkSession, tmp_path: Path, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records are those that `winnow index` makes, and every page is counted."""
    scheme = Scheme(shingle=3, key="open sesame")
    recipe = Recipe(scheme=scheme, crawl="a crawl")
    records = tmp_path / "records"
    sources = [str(crawl), str(tmp_path / "table.parquet")]
    report = fingerprint_on_spark(sources, str(records), recipe, session=spark, base=BASE)
    assert (report.indexed, report.unchanged, report.pages) == (7, 1, 12)
    assert report.skipped == {"type image/png": 1, "same id as an earlier one, other content": 1}
    assert report.failed == {"text is not a string": 1, "no url": 1}
    assert (report.damaged_ranges, len(report.damaged)) == (1, 1)
    assert report.damaged[0].source == str(crawl / "pages.warc")
    assert report.damaged_bytes == report.damaged[0].skipped > 0

    assert scheme_of(records).scheme("open sesame") == scheme
    made = sorted(read_records(records, scheme), key=lambda record: record.url)
    names = ["0", "1", "2", "3", "5", "table"]
    urls = [*(f"https://example.org/{name}" for name in names), "https://mirror.example/page.html"]
    assert [record.url for record in made] == urls
    # Only `winnow index` knows the location of a row without an id in its file, which is its address.
    assert made == [record for record in indexed(sources, recipe, tmp_path) if "#row=" not in record.url]

    output = tmp_path / "clusters"
    settings = RunSettings(output=str(output), key="open sesame")
    found = cluster_on_spark([str(records)], ClusteringOptions(), settings, session=spark)
    assert (found.pages, found.contents, found.clusters, found.identical_clusters) == (7, 4, 3, 3)
    represented = {row["url"]: row["representative"] for row in pq.read_table(output).to_pylist()}
    assert represented["https://example.org/3"] == "https://example.org/0"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]

    # The same, with the key from a file that only the driver reads.
    (tmp_path / "key").write_text("open sesame\n")
    monkeypatch.setenv("WINNOW_KEY_FILE", str(tmp_path / "key"))
    without = replace(recipe, scheme=replace(scheme, key=None))
    fingerprint_on_spark(sources, str(tmp_path / "keyed"), without, session=spark, base=BASE)
    assert sorted(read_records(tmp_path / "keyed", scheme), key=lambda record: record.url) == made
    settings = RunSettings(output=str(tmp_path / "keyed-clusters"))
    keyed = cluster_on_spark([str(tmp_path / "keyed")], ClusteringOptions(), settings, session=spark)
    assert (keyed.scheme, keyed.clusters) == (scheme.id, found.clusters)

    # The failed pages are a table that can be a source again.
    failed = pq.read_table(f"{records}.failed").to_pylist()
    assert {row["reason"] for row in failed} == {"text is not a string", "no url"}
    again = fingerprint_on_spark([f"{records}.failed"], str(tmp_path / "again"), Recipe(scheme=scheme), session=spark)
    assert again.pages == 2


def test_bad_sources(spark: SparkSession, tmp_path: Path, crawl: Path) -> None:
    def refused(*sources: Path | str, to: Path = tmp_path / "records") -> str:
        with pytest.raises(WinnowError) as raised:
            fingerprint_on_spark(list(map(str, sources)), str(to), Recipe(), session=spark)
        return str(raised.value)

    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    before = sorted(tmp_path.rglob("*"))
    assert "no source is named" in refused()
    assert "there is no file or folder" in refused(crawl / "gone.warc")
    assert "needs a column url" in refused(tmp_path / "other.parquet")
    assert "exists; name another" in refused(crawl, to=crawl)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_remote_file_is_copied(tmp_path: Path) -> None:
    (tmp_path / "a b.warc").write_bytes(b"WARC")
    (tmp_path / "copies").mkdir()
    copy = copy_to_folder((tmp_path / "a b.warc").as_uri(), tmp_path / "copies")
    assert (copy.name, copy.read_bytes()) == ("a b.warc", b"WARC")
    names = ("s3a://bucket/a.warc", "hdfs:///a.warc", "file:///a.warc", "/a.warc")
    assert list(map(is_remote, names)) == [True, True, False, False]
