"""winnow cluster that fails or is stopped says so in one sentence, and leaves nothing half-written."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.cluster_tables import exported, hidden, rows, stored_clusters
from tests.cli.conftest import Winnow, started, wait_until

pytestmark = pytest.mark.check


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name what to cluster"),
        (["--store", "crawl.winnow", "--records", "a.parquet"], "name what to cluster"),
        (["--records", "a.parquet", "--dry-run"], "--dry-run needs --store"),
        (["--records", "a.parquet", "--spark", "spark.master=local"], "settings of Spark need the engine spark"),
        (["--records", "a.parquet", "--engine", "spark", "--spark", "memory"], "is not NAME=VALUE"),
        (["--records", "a.parquet"], "a.parquet"),
        (["--store", "no.winnow"], "no.winnow"),
        (["--store", "crawl.winnow", "--plot", "sizes.png"], "name a file that ends in .svg"),
        (["--store", "crawl.winnow", "--plot", "no/sizes.svg"], "there is no folder no"),
        (["--store", "crawl.winnow", "--plot", "there.svg"], "there.svg exists"),
        (["--store", "crawl.winnow", "--work", "no"], "cannot work in the folder no"),
        (["--store", "crawl.winnow", "--output", "crawl.winnow", "--overwrite"], "would overwrite an input"),
        (["--records", ".", "--output", "clusters.parquet"], "would be read as an input"),
        (["--store", "crawl.winnow", "--output", "a.svg", "--plot", "./a.svg"], "is named twice"),
    ],
)
def test_usage_errors(winnow: Winnow, crawl: Path, here: Path, arguments: list[str], message: str) -> None:
    Path("there.svg").write_text("a picture")
    before = stored_clusters(crawl)
    assert message in winnow.refused("cluster", *arguments)
    assert {path.name for path in here.iterdir()} == {"crawl.winnow", "there.svg"}
    assert (Path("there.svg").read_text(), stored_clusters(crawl)) == ("a picture", before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_writes_nothing(winnow: Winnow, crawl: Path, tmp_path: Path, number: signal.Signals) -> None:
    records = exported(winnow, crawl)
    (tmp_path / "work").mkdir()
    run = started(tmp_path, "cluster", "--records", *[records] * 300, "--output", "out.parquet", "--work", "work")
    wait_until(lambda: any((tmp_path / "work").glob("*/*")), run)
    run.send_signal(number)
    out, said = run.communicate(timeout=60)
    assert (run.returncode, out, said) == (130, b"", b"Stopped: nothing was written.\n")
    assert ((tmp_path / "out.parquet").exists(), hidden(tmp_path), list((tmp_path / "work").iterdir())) == (
        False,
        [],
        [],
    )


def test_a_run_stopped_during_the_update_of_the_store_says_so(crawl: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(crawl)) as other:
        other.execute("BEGIN IMMEDIATE")  # no other connection can write now
        run = started(tmp_path, "cluster", "--store", crawl, "--output", "out.parquet")
        wait_until((tmp_path / "out.parquet").exists, run)  # the files come first
        run.send_signal(signal.SIGINT)
    out, said = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, b""), said
    assert said.decode().startswith(f"Stopped: out.parquet is complete; {crawl} may be updated only in part")
    assert len(rows(tmp_path / "out.parquet")) == 7
    assert hidden(tmp_path) == []
