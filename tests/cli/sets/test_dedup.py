"""winnow dedup counts every row, and leaves nothing half-written."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opensearch_winnow.clusters.deduplication.containments import Containments
from tests.cli.conftest import WINNOW, Winnow, json_lines, started, wait_until


def made(path: Path, count: int) -> Path:
    """Write rows of which every second is a copy of the one before it."""
    random = Random(3)
    texts = [" ".join(f"w{random.randrange(10_000)}" for _ in range(100)) for _ in range(count // 2)]
    return json_lines(path, *({"id": number, "text": texts[number // 2]} for number in range(count)))


def test_json_accounts_for_every_row(winnow: Winnow, tmp_path: Path) -> None:
    rows = made(tmp_path / "rows.jsonl", 10)
    with rows.open("a") as file:
        file.write("not JSON\n")
    done = winnow("dedup", rows, "--to", tmp_path / "kept.jsonl", "--json")
    document = json.loads(done.stdout)
    assert (done.exit_code, "The failed rows are in" in done.stderr) == (1, True)
    assert [document[name] for name in ("rows", "kept", "dropped", "failed", "exact")] == [11, 5, 5, 1, 5]
    assert document["largest_clusters"][0] == {"rows": 2, "id": "0"}
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 5
    assert len((tmp_path / "kept.jsonl.failed.jsonl").read_text().splitlines()) == 1


def test_a_dry_run_writes_nothing(winnow: Winnow, tmp_path: Path) -> None:
    rows = made(tmp_path / "rows.jsonl", 4)
    table = winnow.rows("dedup", rows, "--dry-run", "--to", tmp_path / "kept.jsonl", "--quiet")
    assert [row[1:] for row in table if row[0] == "count"][:3] == [["rows", "4"], ["kept", "2"], ["dropped", "2"]]
    assert list(tmp_path.iterdir()) == [rows]
    shown = winnow("dedup", rows, "--dry-run", "--color", "always").stdout
    assert "same words 2" in shown
    assert "Largest clusters" in shown


def test_exact_copies_with_other_operators_are_a_warning(winnow: Winnow, tmp_path: Path) -> None:
    texts = ("12 + 5", "12 * 5", "x < y", "x > y", "1.5", "1/5")
    rows = json_lines(tmp_path / "rows.jsonl", *({"text": text} for text in texts))
    done = winnow("dedup", rows, "--match", "exact", "--dry-run")
    assert "warning\tother_symbols\t3" in done.stdout
    assert "3 rows were dropped for their words though" in done.stderr
    assert "such as “12 * 5” for “12 + 5”." in done.stderr
    assert "--match identical" in done.stderr
    same = winnow("dedup", rows, "--match", "identical", "--dry-run", "--json")
    answer = json.loads(same.stdout)
    assert (answer["kept"], answer["other_symbols"], "Warning" in same.stderr) == (6, 0, False)


def test_dates_that_cannot_be_right_are_a_warning(winnow: Winnow, tmp_path: Path) -> None:
    times = ("2099-01-01", "1970-01-01", "soon", "2024-05-06")
    rows = json_lines(tmp_path / "rows.jsonl", *({"id": time, "text": "One text.", "date": time} for time in times))
    done = winnow("dedup", rows, "--to", tmp_path / "kept.jsonl", "--json")
    assert json.loads(done.stdout)["wrong_dates"] == 3
    assert "3 rows have a date that cannot be read, or cannot be right" in done.stderr
    assert json.loads((tmp_path / "kept.jsonl").read_text())["id"] == "2024-05-06"


def test_rows_that_were_not_compared_are_a_warning(
    winnow: Winnow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Containments, "_run_rounds", lambda self, _: setattr(self, "unfinished", 7))
    done = winnow("dedup", made(tmp_path / "rows.jsonl", 4), "--match", "contained", "--dry-run")
    assert "warning\tnot_compared\t7" in done.stdout
    assert "Warning: 7 rows that are kept may be in another" in done.stderr


def test_no_rows(winnow: Winnow, tmp_path: Path) -> None:
    empty = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), empty)
    assert winnow.json("dedup", empty, "--dry-run", code=1)["rows"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say where the rows that are kept go: add --to"),
        (["--mark", "--ids", "ids.txt"], "marked rows need an output"),
        (["--dry-run", "--keep", "best"], "the row to keep is chosen by"),
        (["--dry-run", "--keep", "best:scor"], "no row has the field scor, by which the rule best:scor chooses: the"),
        (["--dry-run", "--min-containment", "0.5"], "min_containment is for match contained, and match is near"),
        (["--mark"], "say where the rows that are kept go: add --to"),
        (["--to", "-"], "--to - is not supported: name a file"),
        (["--ids", "x", "--dropped", "./x"], "x is named twice"),
        (["--to", "kept.jsonl", "--against", "no.jsonl"], "no.jsonl"),
    ],
)
def test_usage_errors(winnow: Winnow, here: Path, arguments: list[str], message: str) -> None:
    made(here / "rows.jsonl", 2)
    assert message in winnow.refused("dedup", "rows.jsonl", *arguments)
    assert [path.name for path in here.iterdir()] == ["rows.jsonl"]


@pytest.mark.check
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_the_old_output(tmp_path: Path, number: signal.Signals) -> None:
    made(tmp_path / "rows.jsonl", 20_000)
    (tmp_path / "kept.jsonl").write_text("old")
    run = started(tmp_path, "dedup", "rows.jsonl", "--to", "kept.jsonl", "--overwrite")
    wait_until(lambda: any(tmp_path.glob(".winnow*")), run)
    run.send_signal(number)
    _, said = run.communicate()
    assert run.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert (tmp_path / "kept.jsonl").read_text() == "old"
    if number != signal.SIGKILL:
        assert b"Stopped: nothing was written." in said
        assert {path.name for path in tmp_path.iterdir()} == {"rows.jsonl", "kept.jsonl"}


@pytest.mark.check
@pytest.mark.parametrize("kilobytes", [50, 400])  # too little for the columns, and for the output
def test_a_full_disk_is_one_sentence(tmp_path: Path, kilobytes: int) -> None:
    made(tmp_path / "rows.jsonl", 2_000)
    (tmp_path / "kept.jsonl").write_text("old")
    dedup = "dedup rows.jsonl --to kept.jsonl --overwrite --match exact --quiet"
    limited = f'trap "" XFSZ; ulimit -f {kilobytes}; exec "$0" {dedup}'
    done = subprocess.run(["bash", "-c", limited, WINNOW], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr[:7]) == (2, b"", b"Error: ")
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "kept.jsonl").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"rows.jsonl", "kept.jsonl"}


def test_an_earlier_set_with_other_fields(winnow: Winnow, tmp_path: Path) -> None:
    rows = made(tmp_path / "rows.jsonl", 4)
    text = json.loads(rows.read_text().splitlines()[0])["text"]
    old = json_lines(tmp_path / "old.jsonl", {"doc": text, "n": 7})
    arguments = ("dedup", rows, "--against", old, "--dropped", tmp_path / "dropped.jsonl")
    refused = winnow.refused(*arguments)
    assert "its fields are doc, n" in refused
    assert "with --against-text-field" in refused
    assert winnow.json(*arguments, "--against-text-field", "doc", "--against-id-field", "n")["against"] == 2
    assert json.loads((tmp_path / "dropped.jsonl").read_text().splitlines()[0])["representative"] == "7"


def test_the_lines_of_an_earlier_set_are_a_part_of_their_own(winnow: Winnow, tmp_path: Path) -> None:
    rows = made(tmp_path / "rows.jsonl", 4)
    lines = winnow.rows("dedup", rows, "--against", rows, "--dry-run", "--quiet")
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
