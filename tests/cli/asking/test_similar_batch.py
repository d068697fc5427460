"""winnow similar --batch: an answer to every question, in every format, and exit codes."""

from __future__ import annotations

import csv
import gzip
import json
import signal
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from opensearch_winnow.answers.asking.answered_question import BatchRow
from opensearch_winnow.foundation.answer_keys import columns_of
from opensearch_winnow.index import Index
from opensearch_winnow.queries.asking.matches import Matches
from tests.cli.conftest import MILL, OnTerminal, Process, Winnow, json_lines, started, wait_until
from tests.meaningless_text import sentences

COLUMNS = [each.name for each in columns_of(BatchRow)]
TEXT = "\n\n".join(sentences(60, seed) for seed in range(3))  # of the mill


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Three questions that can be posed, of which two are answered, and two that cannot."""
    path = json_lines(
        tmp_path / "questions.jsonl",
        {"id": "copy", "text": TEXT},
        {"id": "none", "text": "unheard of " * 40},
        {"id": "part", "body": "", "text": TEXT[:300]},
        {"id": "empty", "text": "…"},
    )
    path.write_text(f"{path.read_text()}no row\n")
    return path


def found(crawl: Path, text: str, min_containment: float, limit: int | None = 20) -> Matches:
    with Index.open(crawl, create=False) as index:
        return index.similar(text=text, min_containment=min_containment, limit=limit)


def test_json_has_an_answer_for_every_question(winnow: Winnow, crawl: Path, rows: Path) -> None:
    done = winnow("similar", "--batch", rows, "--store", crawl, "--min-containment", "0.2", "--limit", "2", "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stdout.count("\n")) == (1, 1)  # two could not be answered
    copy, none, part, empty, no_row = answer.pop("answers")
    assert answer == {"questions": 5, "found": 2, "failed": 2, "below_guarantee": 0, "too_short": 0}
    assert [each["id"] for each in (copy, none, part, empty)] == ["copy", "none", "part", "empty"]
    assert no_row["id"].endswith("questions.jsonl, line 5")
    for posed, each in ((TEXT, copy), (TEXT[:300], part)):
        expected = found(crawl, posed, 0.2, 2)
        assert [match["url"] for match in each["matches"]] == [match.url for match in expected]
        assert (each["total"], each["reason"]) == (expected.total, None)
    assert none["matches"] == empty["matches"] == []
    assert "0 letters and digits" in empty["reason"]
    assert f"Not answered: empty: {empty['reason']}\n" in done.stderr


@pytest.mark.parametrize(("options", "delimiter"), [((), "\t"), (("--csv",), ",")])
def test_a_pipe_gets_a_row_for_every_match(
    winnow: Winnow, crawl: Path, rows: Path, options: tuple[str, ...], delimiter: str
) -> None:
    done = winnow("similar", "--batch", rows, "--store", crawl, *options)
    table = list(csv.DictReader(done.stdout.splitlines(), delimiter=delimiter))
    assert list(table[0]) == COLUMNS
    assert list(dict.fromkeys(each["question"] for each in table))[:4] == ["copy", "none", "part", "empty"]
    copies = [each for each in table if each["question"] == "copy"]
    assert [each["rank"] for each in copies] == [str(rank) for rank in range(1, len(copies) + 1)]
    assert copies[0]["url"] == "http://mirror.example/mill"  # newer than the page that was copied
    (none,) = (each for each in table if each["question"] == "none")
    assert [value for value in none.values() if value] == ["none", "false", "false"]


def test_a_terminal_shows_the_best_match_of_each(on_terminal: OnTerminal, crawl: Path, rows: Path) -> None:
    code, shown = on_terminal("winnow", "similar", "--batch", rows, "--store", crawl)
    assert (code, "best page (B)" in shown) == (1, True)
    assert "2 of 5 questions found a page, 2 could not be answered" in shown


@pytest.mark.parametrize("ending", ["json", "jsonl", "jsonl.gz", "csv", "parquet"])
def test_answers_go_to_a_file(winnow: Winnow, crawl: Path, rows: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"answers.{ending}"
    ask = ("similar", "--batch", rows, "--store", crawl, "--min-containment", "0.1")
    done = winnow(*ask, "--to", out)
    assert (done.exit_code, done.stdout, "2 of 5 questions found a page, 2 could" in done.stderr) == (1, "", True)
    written = out.read_bytes()
    if ending in ("csv", "parquet"):
        table = (
            pq.read_table(out).to_pylist()
            if ending == "parquet"
            else list(csv.DictReader(out.read_text().splitlines()))
        )
        assert list(table[0]) == COLUMNS
        urls = [match.url for match in found(crawl, TEXT, 0.1)]
        assert [row["url"] for row in table if row["question"] == "copy"] == urls
        assert [bool(row["reason"]) for row in table[-2:]] == [True, True]
    else:
        lines = map(json.loads, (gzip.decompress(written) if ending.endswith("gz") else written).splitlines())
        answers = [(each["id"], each["matches"]) for line in lines for each in line.get("answers", [line])]
        printed = winnow.json(*ask, code=1)["answers"]
        assert answers == [(each["id"], each["matches"]) for each in printed]
    assert "add --overwrite" in winnow.refused(*ask, "--to", out)
    assert out.read_bytes() == written
    assert winnow(*ask, "--to", out, "--overwrite").exit_code == 1


def test_the_questions_are_not_overwritten(winnow: Winnow, crawl: Path, rows: Path) -> None:
    before = rows.read_bytes()
    winnow.refused("similar", "--batch", rows, "--store", crawl, "--to", rows, "--overwrite")
    assert rows.read_bytes() == before


def test_pages_of_the_store_are_questions(process: Process, crawl: Path) -> None:
    urls = f"{MILL}\n\nhttp://nowhere.example/\n".encode()
    done = process("similar", "--batch-urls", "-", "--store", crawl, "--json", stdin=urls)
    mill, nowhere = json.loads(done.stdout)["answers"]
    with Index.open(crawl, create=False) as index:
        assert [each["url"] for each in mill["matches"]] == [match.url for match in index.similar(url=MILL)]
    assert (done.returncode, "has no page http://nowhere.example/" in nowhere["reason"]) == (1, True)
    assert process("similar", "--batch-urls", "-", "--store", crawl, stdin=f"{MILL}\n".encode()).returncode == 0


def test_questions_that_are_too_short_are_counted(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    path = json_lines(tmp_path / "rows.jsonl", *({"id": words[:3], "text": words} for words in ("a mill", TEXT)))
    ask = ("similar", "--batch", path, "--store", crawl)
    done = winnow(*ask, "--json")
    answer = json.loads(done.stdout)
    short, long = answer["answers"]
    reason = "too short to check for copies"
    assert (short["too_short"], short["reason"], short["matches"]) == (True, reason, [])
    assert (long["too_short"], long["reason"]) == (False, None)
    assert (done.exit_code, answer["too_short"], answer["found"]) == (1, 1, 1)
    assert f"1 question is {reason}, with fewer than 50 " in done.stderr
    assert winnow.rows(*ask, code=1)[1][-2:] == ["true", reason]
    winnow(*ask, "--to", tmp_path / "answers.csv")
    assert (tmp_path / "answers.csv").read_text().splitlines()[1].endswith(reason)


def test_files_of_a_folder_and_named_fields(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "mill.txt").write_text(TEXT)
    (tmp_path / "rows.csv").write_text(f'key,words\nfirst,"{TEXT}"\n')
    for source, options, name in (
        ("texts", (), "mill.txt"),
        ("rows.csv", ("--id-field", "key", "--text-field", "words"), "first"),
    ):
        (answer,) = winnow.json("similar", "--batch", tmp_path / source, *options, "--store", crawl)["answers"]
        assert answer["id"].endswith(name)
        assert MILL in [match["url"] for match in answer["matches"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--batch ROWS --text x", "give exactly one question"),
        ("--batch ROWS --to a.csv --json", "give one of --to, --json and --csv"),
        ("--text x --id-field a", "give --batch"),
        ("--batch ROWS --to a.txt", ".jsonl, .csv or .parquet"),
        ("--batch ROWS --at 2024", "give the URL"),
        ("--batch gone.jsonl", "gone.jsonl"),
    ],
)
def test_what_cannot_be_done(winnow: Winnow, crawl: Path, rows: Path, options: str, words: str) -> None:
    assert words in winnow.refused("similar", *options.replace("ROWS", str(rows)).split(), "--store", crawl)


@pytest.mark.check
def test_ctrl_c_leaves_an_old_output(crawl: Path, rows: Path, tmp_path: Path) -> None:
    out, new = tmp_path / "answers.jsonl", tmp_path / ".answers.jsonl.new"
    out.write_text("old\n")
    (tmp_path / "many.jsonl").write_bytes(rows.read_bytes() * 4_000)
    with (tmp_path / "many.jsonl").open("rb") as lines:
        ask = ("similar", "--batch", "-", "--store", crawl, "--to", out, "--overwrite")
        with started(tmp_path, *ask, stdin=lines.fileno(), stdout=subprocess.DEVNULL) as posed:
            try:
                wait_until(lambda: new.exists() and new.stat().st_size, posed)
                posed.send_signal(signal.SIGINT)
                assert posed.wait(60) == 130
            finally:
                posed.kill()
    assert (out.read_text(), new.exists()) == ("old\n", False)
