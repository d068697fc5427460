"""winnow similar --batch: an answer to every question, in every format, and exit codes."""

from __future__ import annotations

import csv
import gzip
import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from opensearch_winnow.answers.asking.answered_question import BatchRow
from opensearch_winnow.foundation.answer_keys import columns_of
from opensearch_winnow.index import Index
from tests.cli.conftest import CLEAN, WINNOW
from tests.cli.sample_card import MILL

Winnow = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]
OnTerminal = Callable[..., tuple[int, str]]
COLUMNS = [each.name for each in columns_of(BatchRow)]


@pytest.fixture
def rows(tmp_path: Path, crawl: Path) -> Path:
    """Three questions that can be posed, of which two are answered, and two that cannot."""
    with Index.open(crawl, create=False) as index:
        mill = index.page(MILL).text
    questions = [
        {"id": "copy", "text": mill},
        {"id": "none", "text": "unheard of " * 40},
        {"id": "part", "body": "", "text": mill[:300]},
        {"id": "empty", "text": "…"},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in questions) + "no row\n")
    return path


def test_json_has_an_answer_for_every_question(winnow: Winnow, crawl: Path, rows: Path) -> None:
    done = winnow("similar", "--batch", rows, "--store", crawl, "--min-containment", "0.2", "--limit", "2", "--json")
    answer = json.loads(done.stdout)
    assert done.exit_code == 1  # two could not be answered
    assert done.stdout.count("\n") == 1
    counts = {name: value for name, value in answer.items() if name != "answers"}
    assert counts == {"questions": 5, "found": 2, "failed": 2, "below_guarantee": 0, "too_short": 0}
    copy, none, part, empty, no_row = answer["answers"]
    assert [each["id"] for each in (copy, none, part, empty)] == ["copy", "none", "part", "empty"]
    assert no_row["id"].endswith("questions.jsonl, line 5")
    with Index.open(crawl, create=False) as index:
        text = index.page(MILL).text
        for posed, each in ((text, copy), (text[:300], part)):
            found = index.similar(text=posed, min_containment=0.2, limit=2)
            assert [match["url"] for match in each["matches"]] == [match.url for match in found]
            assert (each["total"], each["reason"]) == (found.total, None)
    assert none["matches"] == empty["matches"] == []
    assert "0 letters and digits" in empty["reason"]
    assert f"Not answered: empty: {empty['reason']}\n" in done.stderr


@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_a_pipe_gets_a_row_for_every_match(winnow: Winnow, crawl: Path, rows: Path, delimiter: str) -> None:
    done = winnow("similar", "--batch", rows, "--store", crawl, *(["--csv"] if delimiter == "," else []))
    table = list(csv.DictReader(done.stdout.splitlines(), delimiter=delimiter))
    assert list(table[0]) == COLUMNS
    assert list(dict.fromkeys(each["question"] for each in table))[:4] == ["copy", "none", "part", "empty"]
    copies = [each for each in table if each["question"] == "copy"]
    assert [each["rank"] for each in copies] == [str(rank) for rank in range(1, len(copies) + 1)]
    assert copies[0]["url"] == "http://mirror.example/mill"  # newer than the page that was copied
    (none,) = (each for each in table if each["question"] == "none")
    assert {name: value for name, value in none.items() if value} == {
        "question": "none",
        "below_guarantee": "false",
        "too_short": "false",
    }


def test_a_terminal_shows_the_best_match_of_each(on_terminal: OnTerminal, crawl: Path, rows: Path) -> None:
    code, shown = on_terminal(WINNOW, "similar", "--batch", rows, "--store", crawl)
    assert code == 1
    assert "best page (B)" in shown
    assert "2 of 5 questions found a page, 2 could not be answered" in shown


@pytest.mark.parametrize("ending", ["json", "jsonl", "jsonl.gz", "csv", "parquet"])
def test_answers_go_to_a_file(winnow: Winnow, crawl: Path, rows: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"answers.{ending}"
    ask = ("similar", "--batch", rows, "--store", crawl, "--min-containment", "0.1")
    done = winnow(*ask, "--to", out)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "2 of 5 questions found a page, 2 could not be answered · " in done.stderr
    written = out.read_bytes()
    if ending in ("csv", "parquet"):
        table = (
            list(csv.DictReader(out.read_text().splitlines())) if ending == "csv" else pq.read_table(out).to_pylist()
        )
        assert list(table[0]) == COLUMNS
        with Index.open(crawl, create=False) as index:
            found = index.similar(text=index.page(MILL).text, min_containment=0.1)
        assert [row["url"] for row in table if row["question"] == "copy"] == [match.url for match in found]
        assert [bool(row["reason"]) for row in table[-2:]] == [True, True]
    else:
        answer = json.loads(winnow(*ask, "--json").stdout)
        lines = map(json.loads, (gzip.decompress(written) if ending.endswith("gz") else written).splitlines())
        answers = [each for line in lines for each in line.get("answers", [line])]
        assert [each["id"] for each in answers] == [each["id"] for each in answer["answers"]]
        assert [each["matches"] for each in answers] == [each["matches"] for each in answer["answers"]]
    again = winnow(*ask, "--to", out)
    assert (again.exit_code, out.read_bytes()) == (2, written)
    assert "add --overwrite (overwrite=True) to replace it" in again.stderr
    assert winnow(*ask, "--to", out, "--overwrite").exit_code == 1


def test_the_questions_are_not_overwritten(winnow: Winnow, crawl: Path, rows: Path) -> None:
    before = rows.read_bytes()
    done = winnow("similar", "--batch", rows, "--store", crawl, "--to", rows, "--overwrite")
    assert (done.exit_code, rows.read_bytes()) == (2, before)


def test_pages_of_the_store_are_questions(process: Process, crawl: Path) -> None:
    urls = f"{MILL}\n\nhttp://nowhere.example/\n".encode()
    done = process("similar", "--batch-urls", "-", "--store", crawl, "--json", stdin=urls)
    mill, nowhere = json.loads(done.stdout)["answers"]
    with Index.open(crawl, create=False) as index:
        assert [each["url"] for each in mill["matches"]] == [match.url for match in index.similar(url=MILL)]
    assert "has no page http://nowhere.example/" in nowhere["reason"]
    assert done.returncode == 1
    found = process("similar", "--batch-urls", "-", "--store", crawl, stdin=f"{MILL}\n".encode())
    assert found.returncode == 0


def test_questions_that_are_too_short_are_counted(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    with Index.open(crawl, create=False) as index:
        text = index.page(MILL).text
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps({'id': words[:3], 'text': words})}\n" for words in ("a mill", text)))
    ask = ("similar", "--batch", path, "--store", crawl)
    done = winnow(*ask, "--json")
    answer = json.loads(done.stdout)
    short, long = answer["answers"]
    assert (short["too_short"], short["reason"], short["matches"]) == (True, "too short to check for copies", [])
    assert (long["too_short"], long["reason"]) == (False, None)
    assert (done.exit_code, answer["too_short"], answer["found"]) == (1, 1, 1)
    assert "1 question is too short to check for copies, with fewer than 50 letters and digits" in done.stderr
    assert winnow(*ask).stdout.splitlines()[1].split("\t")[-2:] == ["true", "too short to check for copies"]
    out = tmp_path / "answers.csv"
    winnow(*ask, "--to", out)
    assert out.read_text().splitlines()[1].endswith("too short to check for copies")


def test_files_of_a_folder_and_named_fields(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    with Index.open(crawl, create=False) as index:
        text = index.page(MILL).text
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "mill.txt").write_text(text)
    (tmp_path / "rows.csv").write_text("key,words\nfirst," + '"' + text.replace('"', '""') + '"\n')
    for source, fields, name in (("texts", (), "mill.txt"), ("rows.csv", ("key", "words"), "first")):
        options = ("--id-field", fields[0], "--text-field", fields[1]) if fields else ()
        done = winnow("similar", "--batch", tmp_path / source, *options, "--store", crawl, "--json")
        (answer,) = json.loads(done.stdout)["answers"]
        assert done.exit_code == 0
        assert answer["id"].endswith(name)
        assert MILL in [match["url"] for match in answer["matches"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--batch", "ROWS", "--text", "x"), "give exactly one question"),
        (("--batch", "ROWS", "--to", "a.csv", "--json"), "give one of --to, --json and --csv"),
        (("--text", "x", "--id-field", "a"), "give --batch"),
        (("--batch", "ROWS", "--to", "a.txt"), ".jsonl, .csv or .parquet"),
        (("--batch", "ROWS", "--at", "2024"), "give the URL"),
        (("--batch", "gone.jsonl"), "gone.jsonl"),
    ],
)
def test_what_cannot_be_done(winnow: Winnow, crawl: Path, rows: Path, options: tuple[str, ...], words: str) -> None:
    done = winnow("similar", *(str(rows) if each == "ROWS" else each for each in options), "--store", crawl)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.check
def test_ctrl_c_leaves_an_old_output(crawl: Path, rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    out.write_text("old\n")
    command = [str(each) for each in (WINNOW, "similar", "--batch", "-", "--store", crawl, "--to", out, "--overwrite")]
    posed = subprocess.Popen(command, stdin=subprocess.PIPE, env=CLEAN)
    assert posed.stdin is not None
    lines = rows.read_bytes() * 4_000
    try:
        posed.stdin.write(lines)
        posed.stdin.close()
        deadline = time.monotonic() + 60
        new = tmp_path / ".answers.jsonl.new"
        while not (new.exists() and new.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.02)
        posed.send_signal(signal.SIGINT)
        assert posed.wait(60) == 130
    finally:
        posed.kill()
    assert out.read_text() == "old\n"
    assert not new.exists()
