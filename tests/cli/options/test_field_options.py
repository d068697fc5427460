"""The field that an option names as text is text, in every command; HTML is what is named so."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.meaningless_text import sentences

Winnow = Callable[..., Result]
WORDS = sentences(60, 1)
MARKED_UP = f"<p>{WORDS.replace('.', '</p><p>')}"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    texts = [MARKED_UP, WORDS]
    path.write_text("".join(f"{json.dumps({'id': i, 'content': text})}\n" for i, text in enumerate(texts)))
    return path


@pytest.mark.parametrize(("option", "dropped"), [("--text-field", 0), ("--html-field", 1), ("", 1)])
def test_dedup(winnow: Winnow, rows: Path, option: str, dropped: int) -> None:
    named = (option, "content") if option else ()
    done = winnow("dedup", rows, *named, "--match", "exact", "--dry-run", "--json")
    assert json.loads(done.stdout)["dropped"] == dropped


def test_dedup_passages(winnow: Winnow, rows: Path) -> None:
    options = ("dedup", rows, "--passages", "--words", "10", "--dry-run", "--json")
    assert "0 is HTML" in winnow(*options).stderr
    done = winnow(*options, "--text-field", "content")
    assert (done.exit_code, json.loads(done.stdout)["failed"]) == (0, 0)


def test_contaminated(winnow: Winnow, rows: Path, tmp_path: Path) -> None:
    (tmp_path / "exam.jsonl").write_text(json.dumps({"text": WORDS.split(". ")[0]}))
    clean = tmp_path / "clean.jsonl"
    options = ("contaminated", rows, "--against", tmp_path / "exam.jsonl", "--words", "3", "--cut", "--clean", clean)
    assert "name its field with --text-field if it is text" in winnow(*options).stderr
    assert winnow(*options, "--text-field", "content").exit_code == 0
    assert json.loads(clean.read_text().splitlines()[0])["content"].startswith("<p>")


@pytest.mark.check
def test_index_and_similar(winnow: Winnow, rows: Path, tmp_path: Path) -> None:
    for option, matches in (("--text-field", [1, 1]), ("--html-field", [2, 2])):
        store = tmp_path / f"{option}.winnow"
        assert winnow("index", rows, "--store", store, option, "content").exit_code == 0
        questions = ("--batch", rows, option, "content", "--min-resemblance", "1")
        done = winnow("similar", *questions, "--store", store, "--json")
        assert [len(answer["matches"]) for answer in json.loads(done.stdout)["answers"]] == matches


def test_pairs(winnow: Winnow, rows: Path) -> None:
    for option, same in (("--text-field", False), ("--html-field", True)):
        done = winnow("pairs", rows, option, "content", "--json", "--min-similarity", "0")
        (pair,) = json.loads(done.stdout)["pairs"]
        assert (pair["resemblance"] == 1) == same


def test_large_rows_are_kept_or_read(winnow: Winnow, tmp_path: Path) -> None:
    rows, out, exam = (tmp_path / name for name in ("rows.jsonl", "out.jsonl", "exam.jsonl"))
    rows.write_text(f"{json.dumps({'text': WORDS * 9})}\n{json.dumps({'text': WORDS})}\n")
    exam.write_text(json.dumps({"text": WORDS}))
    for command in (
        ("dedup", rows, "--to", out),
        ("dedup", rows, "--passages", "--to", out),
        ("contaminated", rows, "--against", exam, "--clean", out),
    ):
        done = winnow(*command, "--overwrite", "--max-row-size", "1k", "--json")
        assert (done.exit_code, json.loads(done.stdout)["failed"]) == (1, 1)
        assert "--max-row-size reads larger rows." in done.stderr
        kept = json.loads((tmp_path / "out.jsonl.failed.jsonl").read_text())
        assert b64decode(kept["html_base64"]) == rows.read_bytes().splitlines()[0]
        done = winnow(*command, "--overwrite", "--max-row-size", "1M", "--json")
        assert (done.exit_code, json.loads(done.stdout)["failed"]) == (0, 0)
        assert "--max-row-size" not in done.stderr
