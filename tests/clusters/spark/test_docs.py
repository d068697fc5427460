"""The examples about Spark in the documentation run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opensearch_winnow.record_files.records import read_records
from tests.clusters.conftest import SCHEMES, page_record, small_crawl, write_records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("spark")]


@pytest.mark.usefixtures("spark")
def test_code_of_the_guide_can_be_run(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_records(tmp_path / "crawl.parquet", [page_record("https://example.org/", "a word")])
    monkeypatch.setattr(sys, "argv", ["cluster.py", "crawl.parquet", "crawl-clusters"])
    blocks = re.findall(r"^```python\n(.*?)^```", (root / "docs/spark.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "docs/spark.md", "exec"), {})
    assert capsys.readouterr().out == "1 pages, 0 clusters\n"


def test_what_the_page_about_records_says(spark: SparkSession, root: Path, tmp_path: Path) -> None:
    """A folder can be read, and a hash be shown."""
    small_crawl(1, 30, SCHEMES[0], 2).write(tmp_path)
    page = (root / "docs/records.md").read_text()
    (shown,) = re.findall(r"`(lower\([^`]+)` in Spark", page)
    hashes = spark.read.parquet(str(tmp_path)).selectExpr("id", "positions", "explode(fingerprints) AS h")
    found = {(row["id"], row[2]) for row in hashes.selectExpr("id", "positions", shown).collect()}
    records = [record for file in tmp_path.glob("*.parquet") for record in read_records(file)]
    assert found == {(record.id, f"{each:016x}") for record in records for each in record.hashes.fingerprints}
    assert any(each >= 2**63 for record in records for each in record.hashes.fingerprints)
