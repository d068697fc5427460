"""Bad input for Spark is reported in one sentence, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.spark.engine import cluster_on_spark
from opensearch_winnow.foundation.errors import FileError, WinnowError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import RecordsError
from tests.clusters.conftest import SCHEMES, page_record, small_crawl, with_damage, write_records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("spark")]
Refused = Callable[..., str]


@pytest.fixture
def refused(spark: SparkSession, tmp_path: Path) -> Refused:
    """Return the error message about records, and check that nothing was written."""
    (tmp_path / "out").mkdir()

    def call(*records: Path, kind: type[WinnowError] = RecordsError, **settings: Any) -> str:
        settings = {"output": str(tmp_path / "out" / "clusters")} | settings
        with pytest.raises(kind) as raised:
            cluster_on_spark(list(map(str, records)), ClusteringOptions(), RunSettings(**settings), session=spark)
        assert "\n" not in str(raised.value)
        assert list((tmp_path / "out").iterdir()) == []
        return str(raised.value)

    return call


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path,) = small_crawl(8, 100, SCHEMES[0], 1).write(tmp_path_factory.mktemp("crawl"))
    return Path(path)


def test_records_of_two_schemes(tmp_path: Path, refused: Refused) -> None:
    one = Path(write_records(tmp_path / "one.parquet", [page_record("a", "some words")]))
    scheme = Scheme.preset("passages")
    other = Path(write_records(tmp_path / "other.parquet", [page_record("b", "some words", scheme)], scheme))
    complaint = refused(one, other)
    assert complaint.startswith(f"{other} has records of scheme {scheme.id}, not {Scheme().id}")


def test_files_that_are_not_records(tmp_path: Path, refused: Refused, crawl: Path) -> None:
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("not Parquet at all")
    (tmp_path / "short.parquet").write_text("")
    (tmp_path / "cut.parquet").write_bytes(crawl.read_bytes()[:-1])
    (tmp_path / "empty").mkdir()
    assert "there is no record file" in refused(tmp_path / "gone.parquet", kind=FileError)
    assert "has no record files" in refused(tmp_path / "empty", kind=FileError)
    assert "but not one of winnow's records" in refused(tmp_path / "other.parquet")
    for name in ("text", "short", "cut"):
        assert "cannot be read as a record file" in refused(tmp_path / f"{name}.parquet")
    assert "Spark cannot find nowhere:" in refused(Path("nowhere:/x"), kind=FileError)


def test_bytes_that_changed(tmp_path: Path, refused: Refused, crawl: Path) -> None:
    """In a column that the first step reads, and in one that a later step reads."""
    path = tmp_path / "damaged.parquet"
    for name in ("url", "minhash"):
        path.write_bytes(with_damage(crawl, name))
        complaint = refused(path)
        assert complaint.startswith(f"{path} cannot be read as a record file, or is damaged: "), name
        assert "CRC" in complaint


def test_an_error_in_a_task(tmp_path: Path, refused: Refused) -> None:
    pages = [page_record(f"https://example.org/{number}", f"a b c d e f g h i j k {number}") for number in range(2)]
    for page in pages:
        minhash, bands = page.hashes.minhash[:100], pages[0].hashes.bands
        page.hashes = replace(page.hashes, minhash=minhash, bands=bands)
    path = Path(write_records(tmp_path / "r.parquet", pages))
    complaint = refused(path, kind=ClusterError)
    assert complaint == "a record has a MinHash of another size than the 512 bytes of its scheme"


def test_bad_outputs(tmp_path: Path, refused: Refused, crawl: Path) -> None:
    complain = {"kind": ClusterError}
    assert f"{tmp_path} exists" in refused(crawl, kind=FileError, output=str(tmp_path))
    out = str(tmp_path / "out" / "clusters")
    assert "named twice" in refused(crawl, evidence=out, **complain)
    assert "contains the records to read" in refused(crawl, changes=str(crawl.parent), overwrite=True, **complain)
    (tmp_path / "file").touch()
    assert "Spark failed: " in refused(crawl, output=str(tmp_path / "file" / "clusters"), **complain)


RUN = """
import sys
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.spark.session import spark_session
session = spark_session({"spark.master": "local[2]", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"})

from opensearch_winnow.clusters.spark.engine import cluster_on_spark

records, output, step = sys.argv[1:]


def progress(now, done, total):
    if now == step:
        print("there", flush=True)


try:
    settings = RunSettings(output=output, progress=progress)
    cluster_on_spark([records], ClusteringOptions(), settings, session=session)
except KeyboardInterrupt:
    print("stopped", len(session.sparkContext.statusTracker().getActiveJobsIds()))
"""


def test_ctrl_c_ends_the_jobs_and_leaves_nothing(tmp_path: Path, crawl: Path) -> None:
    command = [sys.executable, "-c", RUN, str(crawl), str(tmp_path / "clusters"), "pairing"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "there\n"
        run.send_signal(signal.SIGINT)
        assert run.stdout.read() == "stopped 0\n"
    assert run.returncode == 0
    assert list(tmp_path.iterdir()) == []
