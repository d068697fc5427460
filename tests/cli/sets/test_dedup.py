"""winnow dedup counts every row, and leaves nothing half-written."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

from opensearch_winnow.clusters.deduplication.containments import Containments
from tests.cli.conftest import CLEAN

Winnow = Callable[..., Result]
RUN = "from opensearch_winnow.cli import main; main(prog_name='winnow')"


def made(path: Path, count: int, words: int = 100) -> Path:
    """Write rows of which every second is a copy of the one before it."""
    random, text = Random(3), ""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            if number % 2 == 0:
                text = " ".join(f"w{random.randrange(10_000)}" for _ in range(words))
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    return path


def test_json_accounts_for_every_row(winnow: Winnow, tmp_path: Path) -> None:
    rows = made(tmp_path / "rows.jsonl", 10)
    with rows.open("a") as file:
        file.write("not JSON\n")
    done = winnow("dedup", rows, "--to", tmp_path / "kept.jsonl", "--json")
    assert done.exit_code == 1  # a row failed
    document = json.loads(done.stdout)
    assert (document["rows"], document["kept"], document["dropped"], document["failed"]) == (11, 5, 5, 1)
    assert document["exact"] == 5
    assert document["largest_clusters"][0] == {"rows": 2, "id": "0"}
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 5
    assert len((tmp_path / "kept.jsonl.failed.jsonl").read_text().splitlines()) == 1
    assert "The failed rows are in" in done.stderr


def test_a_dry_run_writes_nothing(winnow: Winnow, tmp_path: Path) -> None:
    rows = made(tmp_path / "rows.jsonl", 4)
    done = winnow("dedup", rows, "--dry-run", "--to", tmp_path / "kept.jsonl", "--quiet")
    assert done.exit_code == 0
    counts = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("count")]
    assert counts[:3] == [["count", "rows", "4"], ["count", "kept", "2"], ["count", "dropped", "2"]]
    assert list(tmp_path.iterdir()) == [rows]


def test_a_table_on_a_terminal(winnow: Winnow, tmp_path: Path) -> None:
    done = winnow("dedup", made(tmp_path / "rows.jsonl", 4), "--dry-run", "--color", "always")
    assert "same words 2" in done.stdout
    assert "Largest clusters" in done.stdout


def test_exact_copies_with_other_operators_are_a_warning(winnow: Winnow, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in ("12 + 5", "12 * 5", "x < y", "x > y", "1.5", "1/5"))
    )
    done = winnow("dedup", rows, "--match", "exact", "--dry-run")
    assert "warning\tother_symbols\t3" in done.stdout
    assert (
        "3 rows were dropped for their words though their operators or signs differ, such as “12 * 5” for “12 + 5”."
        in done.stderr
    )
    assert "--match identical" in done.stderr
    same = winnow("dedup", rows, "--match", "identical", "--dry-run", "--json")
    assert (json.loads(same.stdout)["kept"], json.loads(same.stdout)["other_symbols"]) == (6, 0)
    assert "Warning" not in same.stderr


def test_dates_that_cannot_be_right_are_a_warning(winnow: Winnow, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    times = ("2099-01-01", "1970-01-01", "soon", "2024-05-06")
    rows.write_text("".join(json.dumps({"id": time, "text": "One text.", "date": time}) + "\n" for time in times))
    done = winnow("dedup", rows, "--to", tmp_path / "kept.jsonl", "--json")
    assert json.loads(done.stdout)["wrong_dates"] == 3
    assert "3 rows have a date that cannot be read, or cannot be right. It counts as unknown." in done.stderr
    assert json.loads((tmp_path / "kept.jsonl").read_text())["id"] == "2024-05-06"


def test_rows_that_were_not_compared_are_a_warning(
    winnow: Winnow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Containments, "_run_rounds", lambda self, _: setattr(self, "unfinished", 7))
    done = winnow("dedup", made(tmp_path / "rows.jsonl", 4), "--match", "contained", "--dry-run")
    assert "warning\tnot_compared\t7" in done.stdout
    assert "Warning: 7 rows that are kept may be in another: too many rows share passages with them" in done.stderr


def test_no_rows(winnow: Winnow, tmp_path: Path) -> None:
    empty = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), empty)
    done = winnow("dedup", empty, "--dry-run", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["rows"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say where the rows that are kept go: add --to, --ids, --dropped or --dry-run"),
        (["--mark", "--ids", "ids.txt"], "marked rows need a place: name where to write them"),
        (["--dry-run", "--keep", "best"], "the row to keep is chosen by"),
        (["--dry-run", "--keep", "best:scor"], "no row has the field scor, by which the rule best:scor chooses: the"),
        (["--dry-run", "--keep", "best:scor"], "the fields are id, text"),
        (["--dry-run", "--keep", "lowest:text"], "no row has a number in the field text"),
        (["--dry-run", "--keep", "newest"], "no row has a date"),
        (["--dry-run", "--min-resemblance", "0"], "is not a share above 0 and at most 1"),
        (["--dry-run", "--min-containment", "0.5"], "min_containment is for match contained, and match is near"),
        (["--dry-run", "--memory", "much"], "'much' is not a memory size"),
        (["--mark"], "say where the rows that are kept go: add --to"),
        (["--to", "-"], "--to - is not supported: name a file"),
        (["--ids", "x", "--dropped", "./x"], "x is named twice"),
        (["--to", "none/x.jsonl"], "none/x.jsonl cannot be written: there is no folder none"),
        (["--to", "there.jsonl"], "there.jsonl exists"),
        (["--to", "rows.jsonl", "--overwrite"], "is one of the sources"),
        (["--to", "kept.jsonl", "--against", "no.jsonl"], "no.jsonl"),
    ],
)
def test_usage_errors(
    winnow: Winnow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    made(tmp_path / "rows.jsonl", 2)
    (tmp_path / "there.jsonl").touch()
    done = winnow("dedup", "rows.jsonl", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "there.jsonl"]


def started(folder: Path, *arguments: str, file_bytes: int | None = None) -> subprocess.Popen[bytes]:
    def limit() -> None:
        if file_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, resource.RLIM_INFINITY))

    return subprocess.Popen(
        [sys.executable, "-c", RUN, "dedup", *arguments],
        cwd=folder,
        env=CLEAN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limit,  # noqa: PLW1509 (this process has one thread)
    )


@pytest.mark.check
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_the_old_output(tmp_path: Path, number: signal.Signals) -> None:
    made(tmp_path / "rows.jsonl", 20_000)
    (tmp_path / "kept.jsonl").write_text("old")
    run = started(tmp_path, "rows.jsonl", "--to", "kept.jsonl", "--overwrite")
    deadline = time.monotonic() + 60
    while not any(path.name.startswith(".winnow") for path in tmp_path.iterdir()):
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(run.pid, number)
    _, said = run.communicate()
    assert run.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert (tmp_path / "kept.jsonl").read_text() == "old"
    if number != signal.SIGKILL:
        assert b"Stopped: nothing was written." in said
        assert {path.name for path in tmp_path.iterdir()} == {"rows.jsonl", "kept.jsonl"}


@pytest.mark.check
@pytest.mark.parametrize("size", [50_000, 400_000])  # too little for the columns, and for the output
def test_a_full_disk_is_one_sentence(tmp_path: Path, size: int) -> None:
    made(tmp_path / "rows.jsonl", 2_000)
    (tmp_path / "kept.jsonl").write_text("old")
    exactly = ("--match", "exact", "--quiet")
    run = started(tmp_path, "rows.jsonl", "--to", "kept.jsonl", "--overwrite", *exactly, file_bytes=size)
    out, said = run.communicate()
    assert (run.returncode, out) == (2, b"")
    assert b"Traceback" not in said
    assert said.decode().startswith("Error: ")
    assert (tmp_path / "kept.jsonl").read_text() == "old"
    assert not [path for path in tmp_path.iterdir() if path.name not in ("rows.jsonl", "kept.jsonl")]


def test_an_earlier_set_with_other_fields(winnow: Winnow, tmp_path: Path) -> None:
    rows = made(tmp_path / "rows.jsonl", 4)
    old = tmp_path / "old.jsonl"
    old.write_text(json.dumps({"doc": json.loads(rows.read_text().splitlines()[0])["text"], "n": 7}) + "\n")
    arguments = ("dedup", rows, "--against", old, "--dropped", tmp_path / "dropped.jsonl", "--json")
    refused = winnow(*arguments)
    assert (refused.exit_code, "its fields are doc, n" in refused.stderr) == (2, True)
    assert "with --against-text-field or against_fields=FieldNames(text=…)" in refused.stderr
    done = winnow(*arguments, "--against-text-field", "doc", "--against-id-field", "n")
    assert (done.exit_code, json.loads(done.stdout)["against"]) == (0, 2)
    assert json.loads((tmp_path / "dropped.jsonl").read_text().splitlines()[0])["representative"] == "7"


def test_the_lines_of_an_earlier_set_are_a_part_of_their_own(winnow: Winnow, tmp_path: Path) -> None:
    rows = made(tmp_path / "rows.jsonl", 4)
    done = winnow("dedup", rows, "--against", rows, "--dry-run", "--quiet")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert sum(int(value) for part, _, value in lines if part == "dropped") == 4
    assert [line[1:] for line in lines if line[0] == "against"] == [
        ["rows", "4"],
        ["failed", "0"],
        ["dropped for them", "4"],
    ]


def test_a_readme_beside_rows_is_named(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    made(tmp_path / "set" / "train.jsonl", 4)
    (tmp_path / "set" / "README.md").write_text("About this set")
    done = winnow("dedup", tmp_path / "set", "--to", tmp_path / "out.jsonl", "--json")
    assert (done.exit_code, json.loads(done.stdout)["rows"]) == (0, 4)
    assert "Not read, because the folder has files of rows: README.md" in done.stderr
    assert (tmp_path / "out.jsonl").is_file()
