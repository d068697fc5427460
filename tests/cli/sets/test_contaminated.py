"""winnow contaminated: what it prints, its exit codes, and what it leaves when it is stopped or the disk is full."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest

from opensearch_winnow.cli.sets.contaminated import fields_by_set
from tests.cli.conftest import Winnow, json_lines, started, wait_until
from tests.meaningless_text import sentences

QUESTIONS = [sentences(30, seed) for seed in range(3)]
MAX_FILE_BYTES = 20_000


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    rows = [{"id": f"q{i}", "question": text} for i, text in enumerate(QUESTIONS)]
    return json_lines(tmp_path / "evals.jsonl", *rows, {"id": "short", "question": "Why?"})


@pytest.fixture
def train(tmp_path: Path) -> Path:
    texts = [sentences(50, 10), f"{sentences(30, 11)} {QUESTIONS[0].upper()}", QUESTIONS[0], sentences(60, 12)]
    return json_lines(tmp_path / "train.jsonl", *({"id": i, "text": text} for i, text in enumerate(texts)))


def test_json_is_one_object(winnow: Winnow, train: Path, evals: Path) -> None:
    done = winnow("contaminated", train, "--against", evals, "--eval-field", "question", "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["rows"], answer["contaminated"], answer["failed"]) == (0, 4, 2, 0)
    assert [(row["id"], row["share"]) for row in answer["found"]] == [("1", 0.5), ("2", 1)]
    (found,) = answer["evaluation_sets"]
    assert (found["rows"], found["found"], found["too_short"], found["training_rows"]) == (4, 1, 1, 2)
    shown = {"containment": 1.0, "fields": [{"name": "question", "containment": 1.0}]}
    assert found["most"] == [{"id": "q0", "training_rows": 2, **shown}]
    assert answer["found"][0]["evaluation_rows"] == [{"set": str(evals), "id": "q0", **shown}]
    assert "1 row with a text in question too short to check" in done.stderr


def test_rows_go_to_a_pipe_and_a_table_to_a_terminal(winnow: Winnow, train: Path, evals: Path) -> None:
    arguments = ("contaminated", train, "--against", evals, "--eval-field", "question")
    assert winnow.rows(*arguments) == [
        ["id", "row", "passages", "words", "share", "containment", "set", "evaluation_id", "evaluation_rows"],
        ["1", "1", "1", "30", "0.5", "1", str(evals), "q0", "1"],
        ["2", "2", "1", "30", "1", "1", str(evals), "q0", "1"],
    ]
    shown = winnow(*arguments, "--color", "always").stdout
    for part in ("2 of 4 training rows ", "; not checked: 1 of 4 ", "1 of 4 rows (25 %) found, in 2 ", "2 ← q0"):
        assert part in shown


def test_nothing_found_is_exit_code_1(winnow: Winnow, train: Path, evals: Path, tmp_path: Path) -> None:
    options = ("--eval-field", "question", "--words", "31", "--short", "31", "--clean", tmp_path / "clean.jsonl")
    done = winnow("contaminated", train, "--against", evals, *options)
    assert (done.exit_code, "Nothing was checked: " in done.stderr) == (1, True)
    assert (tmp_path / "clean.jsonl").read_bytes() == train.read_bytes()


def test_a_share_that_no_row_has_is_no_all_clear(winnow: Winnow, train: Path, tmp_path: Path) -> None:
    both = {"id": "q", "text": f"{QUESTIONS[0]} {QUESTIONS[1]}"}
    evals = json_lines(tmp_path / "evals.jsonl", both)
    arguments = ("contaminated", train, "--against", evals, "--min-containment")
    done = winnow(*arguments, "0.8", "--json")
    assert (done.exit_code, json.loads(done.stdout)["below_containment"]) == (1, 2)
    nothing = "No training row holds a share of 0.8 or more"
    assert nothing in done.stderr
    assert ", but 2 of 4 hold smaller" in done.stderr
    assert nothing in winnow(*arguments, "0.8", "--color", "always").stdout
    json_lines(evals, both, {"id": "p", "text": f"{sentences(50, 10)} {sentences(60, 20)}"})
    shown = winnow(*arguments, "0.5", "--color", "always").stdout
    assert "1 more holds smaller passages" in shown
    assert "2 of 4 training rows hold a share of 0.5 or more" in shown


def test_each_set_names_its_fields(winnow: Winnow, train: Path, evals: Path, tmp_path: Path) -> None:
    name = tmp_path / "at 10:30, b.jsonl"
    other = json_lines(name, {"id": "o", "prompt": sentences(60, 12), "hints": ["Why?"]})
    sets = (f"{evals}:question", f"{other}:prompt,hints")
    done = winnow("contaminated", train, "--against", *sets, "--color", "always", "--min-containment", "0.8")
    assert "3 of 4 training rows hold a share of 0.8 or more" in done.stdout
    assert "not checked: 1 of 5 evaluation rows, parts of 1 evaluation row" in done.stdout
    assert "rows found by field: prompt 1, hints 0" in done.stdout
    assert "3 ← o (prompt 100 %, hints not checked)" in done.stdout
    done = winnow("contaminated", train, "--against", f"{evals}:question", other, "--eval-field", "question")
    assert "10:30, b.jsonl has no row with a text in the field question: " in done.stderr


@pytest.mark.usefixtures("here")
def test_names_of_sets_with_colons() -> None:
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
    more = json_lines(tmp_path / "more.jsonl", {"id": "m", "question": sentences(60, 12)})
    options = ("--against", evals, more, "--eval-field", "question")
    for arguments in ((train, *options), (*options, train)):
        sets = winnow.json("contaminated", *arguments)["evaluation_sets"]
        assert [(each["name"], each["training_rows"]) for each in sets] == [(str(evals), 2), (str(more), 1)]


def test_rows_that_cannot_be_read(winnow: Winnow, train: Path, evals: Path, tmp_path: Path) -> None:
    for path in (train, evals):
        with path.open("a") as file:
            file.write("no JSON\n")
    clean, failed = tmp_path / "clean.jsonl", tmp_path / "clean.jsonl.failed.jsonl"
    failed.write_text("of an earlier run\n")
    options = ("--against", evals, "--eval-field", "question", "--clean", clean)
    assert "failed.jsonl exists" in winnow("contaminated", train, *options).stderr
    done = winnow("contaminated", train, *options, "--overwrite")
    assert (done.exit_code, f"{evals}, line 5: not JSON" in done.stderr) == (1, True)
    assert f"The failed rows are in {failed}." in done.stderr
    assert json.loads(failed.read_text())["reason"] == "not JSON"


def test_a_field_that_some_evaluation_rows_lack(winnow: Winnow, train: Path, evals: Path) -> None:
    with evals.open("a") as file:
        file.write(json.dumps({"question": "Why?", "choices": ["one", "two"]}) + "\n")
    fields = ("--eval-field", "question", "--eval-field", "choices")
    done = winnow("contaminated", train, "--against", evals, *fields)
    assert (done.exit_code, f"{evals}: 4 rows without a text in choices" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "evals.jsonl"], "its fields are id, question; name the one"),
        (["--against", "no.jsonl"], "no.jsonl"),
        (
            ["--against", "evals.jsonl", "--eval-field", "question", "--eval-field", "choises"],
            "evals.jsonl has no row with a text in the field choises: ",
        ),
        (["--against", "evals.jsonl", "--cut"], "cut needs clean, which names the file to write"),
        (["--against", "evals.jsonl", "--to", "train.jsonl", "--overwrite"], "would overwrite an input"),
        (["--against", "evals.jsonl", "--clean", "evals.jsonl", "--overwrite"], "would overwrite an input"),
        (["--against", "evals.jsonl", "--to", "a.csv", "--spans", "./a.csv"], "is named twice"),
        (["--against", "evals.jsonl", "--to", "there.csv"], "there.csv exists"),
        (["--against", "evals.jsonl", "--clean", "-"], "--clean - is not supported: name a file"),
        ([], "Missing option '--against'"),
    ],
)
@pytest.mark.usefixtures("train", "evals")
def test_usage_errors(winnow: Winnow, here: Path, arguments: list[str], message: str) -> None:
    (here / "there.csv").write_text("old")
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    assert message in winnow.refused("contaminated", "train.jsonl", *arguments)
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


REPLACING = ("contaminated", "train.jsonl", "--against", "evals.jsonl", "--eval-field", "question", "--overwrite")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_old_file_survives_a_stop(evals: Path, tmp_path: Path, number: signal.Signals) -> None:
    text = QUESTIONS[1]
    with (tmp_path / "train.jsonl").open("w") as file:
        file.writelines(f'{{"id": {i}, "text": "{text}"}}\n' for i in range(100_000))
    old = [tmp_path / name for name in ("found.parquet", "clean.jsonl")]
    for path in old:
        path.write_text("old")
    with started(tmp_path, *REPLACING, "--to", "found.parquet", "--clean", "clean.jsonl") as run:
        wait_until((tmp_path / ".found.parquet.new").exists, run)
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
def test_a_full_disk_is_one_sentence(winnow: Winnow, evals: Path, here: Path, options: list[str]) -> None:
    texts = [QUESTIONS[1] if i % 2 else sentences(30, 100 + i) for i in range(1_000)]
    json_lines(here / "train.jsonl", *({"id": sentences(3, i), "text": text} for i, text in enumerate(texts)))
    (here / options[1]).write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES // 4, before[1]))
    try:
        done = winnow(*REPLACING, *options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == f"Error: {options[1]} cannot be written: File too large"
    assert (here / options[1]).read_text() == "old"
    assert {path.name for path in here.iterdir()} == {"train.jsonl", evals.name, options[1]}
