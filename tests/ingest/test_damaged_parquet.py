"""Parquet files that crash Arrow, or take too much memory: each costs its own pages and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from tests.hostile_parquet import write_aborting, write_bomb, write_wide
from tests.ingest.conftest import Run, html
from tests.ingest.sources.archives import write_files

TABLE = pa.table({"url": [f"http://example.org/{row}" for row in range(50)], "text": [f"words {n}" for n in range(50)]})
OTHERS = TABLE.set_column(0, "url", [[f"u{row}" for row in range(50)]])


def misnamed(path: Path) -> None:
    pq.write_table(TABLE.append_column("größe", [[1] * 50]), path)
    path.write_bytes(path.read_bytes().replace("größe".encode(), b"gr\xff\xff\xff\xffe"))


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = tmp_path / "crawl"
    folder.mkdir()
    return folder


@pytest.mark.check
def test_a_file_that_crashes_arrow_costs_only_itself(run: Run, crawl: Path) -> None:
    pq.write_table(TABLE, crawl / "a.parquet")
    write_aborting(crawl / "b.parquet")
    misnamed(crawl / "c.parquet")
    write_files(crawl, {"d.parquet": b"PAR1 and no more", "e.html": html(1)})
    pq.write_table(OTHERS, crawl / "f.parquet")
    done = run([crawl])
    assert done.counts == (101, 0, 0, 3)
    assert {each["url"]: each["reason"].partition(": ")[2] for each in done.failed} == {
        (crawl / "b.parquet").as_uri(): "Arrow crashes over its footer",
        (crawl / "c.parquet").as_uri(): "its footer is damaged",
        (crawl / "d.parquet").as_uri(): "it has no footer, so its end is missing",
    }


@pytest.mark.check
def test_a_crash_changes_nothing_for_other_sources_or_later_runs(run: Run, crawl: Path) -> None:
    pq.write_table(TABLE.slice(0, 20), crawl / "a.parquet")
    pq.write_table(TABLE.slice(20), crawl / "c.parquet")
    alone = run([crawl], to="alone.parquet")
    write_aborting(crawl / "b.parquet")
    for workers, counts in ((2, (50, 0, 0, 1)), (1, (0, 50, 0, 1))):
        done = run([crawl, crawl / "b.parquet"], workers=workers)
        assert done.counts == counts
        assert done.records == alone.records


# Imported by every Python process that starts while its folder is in PYTHONPATH.
SITECUSTOMIZE = """
import os, signal
from opensearch_winnow.ingest.sources import parquet

def rows(split, choice, reading=parquet.rows):
    for offset, row in reading(split, choice):
        if split.path.endswith("b.parquet") and offset == 10:
            os.kill(os.getpid(), signal.SIGSEGV)
        yield offset, row

parquet.rows = rows
"""


@pytest.mark.check
def test_a_reader_that_crashes_in_the_middle_of_a_file(
    run: Run, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever this version of Arrow survives: the worker is killed from within, each time it reads row 10."""
    (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    for name, start in (("a.parquet", 0), ("b.parquet", 15), ("c.parquet", 35)):
        pq.write_table(TABLE.slice(start, 15 if name == "a.parquet" else 20), crawl / name)
    done = run([crawl], workers=2)
    assert done.counts == (15 + 10 + 15, 0, 0, 0)
    (damaged,) = done.report.damaged
    assert (Path(damaged.source).name, damaged.reason) == ("b.parquet", "its worker died of signal 11")
    again = run([crawl], workers=1)
    assert again.counts == (0, 40, 0, 0)
    assert again.records == done.records


@pytest.mark.check
def test_a_damaged_file_that_was_named_does_not_stop_the_others(run: Run, crawl: Path) -> None:
    pq.write_table(TABLE, crawl / "a.parquet")
    (crawl / "b.parquet").write_bytes((crawl / "a.parquet").read_bytes()[:-1])
    done = run([crawl / "b.parquet", crawl / "a.parquet"])
    assert done.counts == (50, 0, 0, 1)
    assert "its end is missing" in "".join(done.report.failed)


MEASURED_RUN = """
import json, re, resource, sys
from pathlib import Path
from opensearch_winnow.cli import main
from opensearch_winnow.ingest.sources.parquet_footer import FOOTER_PROGRAM
main(["index", *sys.argv[1:], "--workers", "2", "--quiet", "--json"], standalone_mode=False)
FOOTER_PROGRAM.end()  # so that it counts as a child
parent = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])  # ru_maxrss is inherited
print(json.dumps([peak * 1024 for peak in (parent, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)]))
"""


@pytest.mark.check
def test_bombs_are_refused_before_they_are_unpacked(crawl: Path, tmp_path: Path) -> None:
    pq.write_table(TABLE, crawl / "a.parquet")
    write_bomb(crawl / "bomb.parquet", 1_200_000_000)
    write_bomb(crawl / "lie.parquet", 1_200_000_000, claimed=1_000)
    write_wide(crawl / "wide.parquet", 200_000)
    pq.write_table(OTHERS, crawl / "z.parquet")
    command = [sys.executable, "-c", MEASURED_RUN, str(crawl), "--store", f"{tmp_path}/a.winnow"]
    done = subprocess.run(command, capture_output=True, check=True)
    answer, (parent, worker) = map(json.loads, done.stdout.splitlines())
    assert (answer["indexed"], answer["failed"], answer["damaged"]["places"]) == (100, 1, 2)
    assert "200,002 columns" in "".join(answer["reasons"]["failed"])
    assert parent < 300_000_000, f"{parent:,}"
    assert worker < 600_000_000, f"{worker:,}"  # of the program that refuses the wide file
