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

from opensearch_winnow.cli.sets.contaminated import fields_by_set
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
    shown = {"containment": 1.0, "fields": [{"name": "question", "containment": 1.0}]}
    assert found["most"] == [{"id": "q0", "training_rows": 2, **shown}]
    assert answer["found"][0]["evaluation_rows"] == [{"set": str(evals), "id": "q0", **shown}]
    assert "1 row with a text in question too short to check, with fewer than 8 words" in done.stderr


def test_rows_go_to_a_pipe_and_a_table_to_a_terminal(winnow: Winnow, train: Path, evals: Path) -> None:
    arguments = ("contaminated", train, "--against", evals, "--eval-field", "question")
    heads, *rows = [line.split("\t") for line in winnow(*arguments).stdout.splitlines()]
    assert heads[:5] == ["id", "row", "passages", "words", "share"]
    assert heads[5:] == ["containment", "set", "evaluation_id", "evaluation_rows"]
    assert rows == [
        ["1", "1", "1", "30", "0.5", "1", str(evals), "q0", "1"],
        ["2", "2", "1", "30", "1", "1", str(evals), "q0", "1"],
    ]
    shown = winnow(*arguments, "--color", "always").stdout
    assert "2 of 4 training rows hold passages of evaluation sets; not checked: 1 of 4 evaluation rows" in shown
    assert "1 of 4 rows (25 %) found, in 2 training rows; not checked: 1 row" in shown
    assert "2 ← q0" in shown


def test_nothing_found_is_exit_code_1(winnow: Winnow, train: Path, evals: Path, tmp_path: Path) -> None:
    done = winnow(
        *("contaminated", train, "--against", evals, "--eval-field", "question", "--words", "31", "--short", "31"),
        *("--clean", tmp_path / "clean.jsonl"),
    )
    assert done.exit_code == 1
    assert "Nothing was checked: no evaluation row has a text that is long enough" in done.stderr
    assert (tmp_path / "clean.jsonl").read_bytes() == train.read_bytes()


def test_a_share_that_no_row_has_is_no_all_clear(winnow: Winnow, train: Path, tmp_path: Path) -> None:
    evals = write(tmp_path / "evals.jsonl", [{"id": "q", "text": f"{QUESTIONS[0]} {QUESTIONS[1]}"}])
    done = winnow("contaminated", train, "--against", evals, "--min-containment", "0.8", "--json")
    assert (done.exit_code, json.loads(done.stdout)["below_containment"]) == (1, 2)
    assert "No training row holds a share of 0.8 or more of an evaluation text, but 2 of 4 hold smaller" in done.stderr
    shown = winnow("contaminated", train, "--against", evals, "--min-containment", "0.8", "--color", "always")
    assert "No training row holds a share of 0.8 or more" in shown.stdout
    with evals.open("a") as file:
        file.write(json.dumps({"id": "p", "text": f"{sentences(50, 10)} {sentences(60, 20)}"}))
    shown = winnow("contaminated", train, "--against", evals, "--min-containment", "0.5", "--color", "always")
    assert "1 more holds smaller passages" in shown.stdout
    assert "2 of 4 training rows hold a share of 0.5 or more of an evaluation text" in shown.stdout


def test_each_set_names_its_fields(winnow: Winnow, train: Path, evals: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "at 10:30, b.jsonl", [{"id": "o", "prompt": sentences(60, 12), "hints": ["Why?"]}])
    sets = (f"{evals}:question", f"{other}:prompt,hints")
    done = winnow("contaminated", train, "--against", *sets, "--color", "always", "--min-containment", "0.8")
    assert "3 of 4 training rows hold a share of 0.8 or more of an evaluation text" in done.stdout
    assert "not checked: 1 of 5 evaluation rows, parts of 1 evaluation row" in done.stdout
    assert "rows found by field: prompt 1, hints 0" in done.stdout
    assert "3 ← o (prompt 100 %, hints not checked)" in done.stdout
    done = winnow("contaminated", train, "--against", f"{evals}:question", other, "--eval-field", "question")
    assert (
        "10:30, b.jsonl has no row with a text in the field question: its fields are id, prompt, hints" in done.stderr
    )


def test_names_of_sets_with_colons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "a.jsonl:old", "C:b.jsonl"):
        Path(name).touch()
    given = {
        "a.jsonl:question,choices": ("a.jsonl", ["question", "choices"]),
        "a.jsonl:answers.text": ("a.jsonl", ["answers.text"]),
        "a.jsonl:old": ("a.jsonl:old", []),  # a file
        "a.jsonl:old:question": ("a.jsonl:old", ["question"]),
        "C:b.jsonl": ("C:b.jsonl", []),
        "C:b.jsonl:question": ("C:b.jsonl", ["question"]),
        r"C:\evals\a.jsonl": (r"C:\evals\a.jsonl", []),
        "no.jsonl:question": ("no.jsonl:question", []),  # whose error names it as it was typed
        "s3://evals/a.jsonl": ("s3://evals/a.jsonl", []),
        "*.jsonl:question": ("*.jsonl", ["question"]),
        "[x:a]*.jsonl": ("[x:a]*.jsonl", []),
        "a.jsonl:": ("a.jsonl:", []),
    }
    for name, (path, fields) in given.items():
        assert fields_by_set([name]) == {path: fields}
    assert fields_by_set(["a.jsonl:a,b", "a.jsonl:b,c"]) == {"a.jsonl": ["a", "b", "c"]}


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
    assert (done.exit_code, f"{evals}: 4 rows without a text in choices" in done.stderr) == (0, True)


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
            "evals.jsonl has no row with a text in the field choises: its fields are id, question",
        ),
        (["--against", "evals.jsonl", "--cut"], "cut needs clean, which names the file to write"),
        (["--against", "evals.jsonl", "--words", "0"], "is not a whole number from 1 to 10,000"),
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
