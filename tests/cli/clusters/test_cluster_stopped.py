"""winnow cluster that fails or is stopped says so in one sentence, and leaves nothing half-written."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.cluster_tables import exported, hidden, rows, stored_clusters
from tests.cli.conftest import CLEAN, PATH, WINNOW

pytestmark = pytest.mark.check

Winnow = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name what to cluster"),
        (["--store", "crawl.winnow", "--records", "a.parquet"], "name what to cluster"),
        (["--records", "a.parquet", "--dry-run"], "--dry-run needs --store"),
        (["--records", "a.parquet", "--spark", "spark.master=local"], "settings of Spark need the engine spark"),
        (["--records", "a.parquet", "--engine", "spark", "--spark", "memory"], "is not NAME=VALUE"),
        (["--records", "a.parquet", "--threshold", "0"], "is not a share above 0 and at most 1"),
        (["--records", "a.parquet", "--compared", "1"], "is not a whole number from 2 to 1,000,000"),
        (["--records", "a.parquet"], "a.parquet"),
        (["--store", "no.winnow"], "no.winnow"),
        (["--store", "crawl.winnow", "--memory", "much"], "'much' is not a memory size"),
        (["--store", "crawl.winnow", "--plot", "sizes.png"], "name a file that ends in .svg"),
        (["--store", "crawl.winnow", "--plot", "no/sizes.svg"], "there is no folder no"),
        (["--store", "crawl.winnow", "--plot", "there.svg"], "there.svg exists"),
        (["--store", "crawl.winnow", "--output", "there.svg"], "there.svg exists"),
        (["--store", "crawl.winnow", "--output", "no/clusters.parquet"], "cannot work in the folder no"),
        (["--store", "crawl.winnow", "--work", "no"], "cannot work in the folder no"),
        (["--store", "crawl.winnow", "--output", "crawl.winnow", "--overwrite"], "would overwrite an input"),
        (["--records", ".", "--output", "clusters.parquet"], "would be read as an input"),
        (["--store", "crawl.winnow", "--output", "a.svg", "--plot", "./a.svg"], "is named twice"),
    ],
)
def test_usage_errors(process: Process, crawl: Path, arguments: list[str], message: str) -> None:
    (crawl.parent / "there.svg").write_text("a picture")
    before = stored_clusters(crawl)
    done = process("cluster", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    said = " ".join(done.stderr.decode().split())
    assert message in said
    assert "Traceback" not in said
    assert {path.name for path in crawl.parent.iterdir()} == {"crawl.winnow", "there.svg"}
    assert (crawl.parent / "there.svg").read_text() == "a picture"
    assert stored_clusters(crawl) == before


def started(folder: Path, *arguments: str | Path) -> subprocess.Popen[bytes]:
    command = [WINNOW, "cluster", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=CLEAN | {"PATH": PATH}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def wait_until(condition: Callable[[], bool], run: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert run.poll() is None, "it was over too soon"
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_writes_nothing(winnow: Winnow, crawl: Path, tmp_path: Path, number: signal.Signals) -> None:
    records = exported(winnow, crawl)
    (tmp_path / "work").mkdir()
    many = [records] * 300
    run = started(tmp_path, "--records", *many, "--output", "out.parquet", "--work", "work")
    wait_until(lambda: any((tmp_path / "work").glob("*/*")), run)
    run.send_signal(number)
    out, said = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, b""), said
    assert said.decode().strip() == "Stopped: nothing was written."
    assert not (tmp_path / "out.parquet").exists()
    assert hidden(tmp_path) == []
    assert list((tmp_path / "work").iterdir()) == []


def test_a_run_stopped_during_the_update_of_the_store_says_so(crawl: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(crawl)) as other:
        other.execute("BEGIN IMMEDIATE")  # no other connection can write now
        run = started(tmp_path, "--store", crawl, "--output", "out.parquet")
        wait_until((tmp_path / "out.parquet").exists, run)  # the files come first
        run.send_signal(signal.SIGINT)
    out, said = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, b""), said
    partly = f"{crawl} may be updated only in part, so cluster it again"
    assert said.decode() == f"Stopped: out.parquet is complete; {partly}.\n"
    assert len(rows(tmp_path / "out.parquet")) == 7
    assert hidden(tmp_path) == []
