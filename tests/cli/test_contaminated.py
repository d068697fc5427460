"""winnow contaminated: what it prints, its exit codes, and what it leaves when it is stopped or the disk is full."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.conftest import CLEAN, PATH, WINNOW
from tests.meaningless_text import sentences

Winnow = Callable[..., Result]
QUESTIONS = [sentences(30, seed) for seed in range(3)]
MAX_FILE_BYTES = 20_000


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    rows: list[dict[str, object]] = [{"id": f"q{i}", "question": text} for i, text in enumerate(QUESTIONS)]
    return write(tmp_path / "evals.jsonl", [*rows, {"id": "short", "question": "Why?"}])


@pytest.fixture
def train(tmp_path: Path) -> Path:
    texts = [sentences(50, 10), f"{sentences(30, 11)} {QUESTIONS[0].upper()}", QUESTIONS[0], sentences(60, 12)]
    return write(tmp_path / "train.jsonl", [{"id": i, "text": text} for i, text in enumerate(texts)])


def test_json_is_one_object(winnow: Winnow, train: Path, evals: Path) -> None:
    done = winnow("contaminated", train, "--against", evals, "--eval-field", "question", "--json")
    assert done.exit_code == 0
    answer = json.loads(done.stdout)
    assert (answer["rows"], answer["contaminated"], answer["failed"]) == (4, 2, 0)
    assert [row["id"] for row in answer["found"]] == ["1", "2"]
    assert answer["found"][0]["share"] == 0.5
    (found,) = answer["evaluation_sets"]
    assert (found["rows"], found["found"], found["too_short"], found["training_rows"]) == (4, 1, 1, 2)
    assert found["most"] == [{"id": "q0", "training_rows": 2, "share": 1.0}]
    assert "1 row too short to check, with fewer than 8 words" in done.stderr


def test_rows_go_to_a_pipe_and_a_table_to_a_terminal(winnow: Winnow, train: Path, evals: Path) -> None:
    arguments = ("contaminated", train, "--against", evals, "--eval-field", "question")
    heads, *rows = [line.split("\t") for line in winnow(*arguments).stdout.splitlines()]
    assert heads[:5] == ["id", "row", "passages", "words", "share"]
    assert heads[5:] == ["evaluation_share", "set", "evaluation_id", "evaluation_rows"]
    assert rows == [
        ["1", "1", "1", "30", "0.5000", "1.0000", str(evals), "q0", "1"],
        ["2", "2", "1", "30", "1.0000", "1.0000", str(evals), "q0", "1"],
    ]
    shown = winnow(*arguments, "--color", "always").stdout
    assert "2 of 4 training rows hold passages of evaluation sets" in shown
    assert "1 of 4 rows (25 %) found, in 2 training rows" in shown
    assert "2 ← q0" in shown


def test_nothing_found_is_exit_code_1(winnow: Winnow, train: Path, evals: Path, tmp_path: Path) -> None:
    done = winnow(
        *("contaminated", train, "--against", evals, "--eval-field", "question", "--words", "31", "--short", "31"),
        *("--clean", tmp_path / "clean.jsonl"),
    )
    assert done.exit_code == 1
    assert "No passage of 31 words of the evaluation sets in 4 training rows" in done.stderr
    assert (tmp_path / "clean.jsonl").read_bytes() == train.read_bytes()


def test_against_takes_names_up_to_the_next_option(winnow: Winnow, train: Path, evals: Path, tmp_path: Path) -> None:
    more = write(tmp_path / "more.jsonl", [{"id": "m", "question": sentences(60, 12)}])
    options = ("--against", evals, more, "--eval-field", "question", "--json")
    for arguments in ((train, *options), (*options, train)):
        answer = json.loads(winnow("contaminated", *arguments).stdout)
        assert [(Path(each["name"]).name, each["training_rows"]) for each in answer["evaluation_sets"]] == [
            ("evals.jsonl", 2),
            ("more.jsonl", 1),
        ]


def test_rows_that_cannot_be_read(winnow: Winnow, train: Path, evals: Path, tmp_path: Path) -> None:
    for path in (train, evals):
        with path.open("a") as file:
            file.write("no JSON\n")
    clean, failed = tmp_path / "clean.jsonl", tmp_path / "clean.jsonl.failed.jsonl"
    failed.write_text("of an earlier run\n")
    options = ("--against", evals, "--eval-field", "question", "--clean", clean)
    assert "failed.jsonl exists" in winnow("contaminated", train, *options).stderr
    done = winnow("contaminated", train, *options, "--overwrite")
    assert done.exit_code == 1
    assert f"{evals}, line 5: not JSON" in done.stderr
    assert f"The failed rows are in {failed}." in done.stderr
    assert [json.loads(line)["reason"] for line in failed.read_text().splitlines()] == ["not JSON"]


def test_a_field_that_some_evaluation_rows_lack(winnow: Winnow, train: Path, evals: Path) -> None:
    with evals.open("a") as file:
        file.write(json.dumps({"question": "Why?", "choices": ["one", "two"]}) + "\n")
    fields = ("--eval-field", "question", "--eval-field", "choices")
    done = winnow("contaminated", train, "--against", evals, *fields)
    assert (done.exit_code, f"{evals}: 4 rows without the field choices" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--against", "evals.jsonl"],
            "its fields are id, question; name the one that holds the text with --eval-field",
        ),
        (["--against", "no.jsonl"], "no.jsonl"),
        (
            ["--against", "evals.jsonl", "--eval-field", "question", "--eval-field", "choises"],
            "no row with the field choises, which --eval-field or eval_fields names: the fields are id, question",
        ),
        (["--against", "evals.jsonl", "--cut"], "--cut needs --clean"),
        (["--against", "evals.jsonl", "--words", "0"], "1<=x"),
        (["--against", "evals.jsonl", "--to", "train.jsonl", "--overwrite"], "would overwrite an input"),
        (["--against", "evals.jsonl", "--clean", "evals.jsonl", "--overwrite"], "would overwrite an input"),
        (["--against", "evals.jsonl", "--to", "a.csv", "--spans", "./a.csv"], "is named twice"),
        (["--against", "evals.jsonl", "--to", "there.csv"], "there.csv exists"),
        (["--against", "evals.jsonl", "--clean", "there.csv"], "there.csv exists"),
        (["--against", "evals.jsonl", "--to", "found.txt"], "name a file that ends in .jsonl"),
        (["--against", "evals.jsonl", "--clean", "-"], "--clean - is not supported: name a file"),
        ([], "Missing option '--against'"),
    ],
)
def test_usage_errors(
    winnow: Winnow,
    train: Path,
    evals: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").write_text("old")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = winnow("contaminated", train.name, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert evals.exists()


def started(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    options = ("contaminated", "train.jsonl", "--against", "evals.jsonl", "--eval-field", "question", "--overwrite")
    return subprocess.Popen(
        [WINNOW, *options, *arguments],
        cwd=folder,
        env=CLEAN | {"PATH": PATH},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_old_file_survives_a_stop(evals: Path, tmp_path: Path, number: signal.Signals) -> None:
    text = QUESTIONS[1]
    with (tmp_path / "train.jsonl").open("w") as file:
        file.writelines(f'{{"id": {i}, "text": "{text}"}}\n' for i in range(100_000))
    old = [tmp_path / name for name in ("found.parquet", "clean.jsonl")]
    for path in old:
        path.write_text("old")
    with started(tmp_path, "--to", "found.parquet", "--clean", "clean.jsonl") as run:
        deadline = time.monotonic() + 60
        while not (tmp_path / ".found.parquet.new").exists() and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        run.send_signal(number)
        said = run.communicate()[1].decode()
    assert [path.read_text() for path in old] == ["old", "old"]
    if number == signal.SIGKILL:
        assert run.returncode == -signal.SIGKILL, said
    else:
        assert run.returncode == 130, said
        assert "Stopped: nothing was written." in said
        assert {path.name for path in tmp_path.iterdir()} == {"train.jsonl", evals.name, *(path.name for path in old)}


@pytest.mark.parametrize("options", [["--to", "out.jsonl"], ["--spans", "out.parquet"], ["--clean", "out.jsonl"]])
def test_a_full_disk_is_one_sentence(
    winnow: Winnow,
    evals: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [QUESTIONS[1] if i % 2 else sentences(30, 100 + i) for i in range(1_000)]
    write(tmp_path / "train.jsonl", [{"id": f"{sentences(3, i)}", "text": text} for i, text in enumerate(texts)])
    (tmp_path / options[1]).write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES // 4, before[1]))
    try:
        done = winnow(
            *("contaminated", "train.jsonl", "--against", "evals.jsonl", "--eval-field", "question", "--overwrite"),
            *options,
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == f"Error: {options[1]} cannot be written: File too large"
    assert (tmp_path / options[1]).read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"train.jsonl", evals.name, options[1]}
