"""The field that an option names as text is text, in every command; HTML is what is named so."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest

from tests.cli.conftest import Winnow, json_lines
from tests.meaningless_text import sentences

WORDS = sentences(60, 1)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Two rows with the same words, first with markup."""
    texts = (f"<p>{WORDS.replace('.', '</p><p>')}", WORDS)
    return json_lines(tmp_path / "rows.jsonl", *({"id": i, "content": text} for i, text in enumerate(texts)))


@pytest.mark.parametrize(("option", "dropped"), [("--text-field", 0), ("--html-field", 1), ("", 1)])
def test_dedup(winnow: Winnow, rows: Path, option: str, dropped: int) -> None:
    named = (option, "content") if option else ()
    assert winnow.json("dedup", rows, *named, "--match", "exact", "--dry-run")["dropped"] == dropped


def test_dedup_passages(winnow: Winnow, rows: Path) -> None:
    options = ("dedup", rows, "--passages", "--words", "10", "--dry-run")
    assert "0 is HTML" in winnow(*options).stderr
    assert winnow.json(*options, "--text-field", "content")["failed"] == 0


def test_contaminated(winnow: Winnow, rows: Path, tmp_path: Path) -> None:
    exam, clean = json_lines(tmp_path / "exam.jsonl", {"text": WORDS.split(". ")[0]}), tmp_path / "clean.jsonl"
    options = ("contaminated", rows, "--against", exam, "--words", "3", "--cut", "--clean", clean)
    assert "name its field with --text-field if it is text" in winnow(*options).stderr
    assert winnow(*options, "--text-field", "content").exit_code == 0
    assert json.loads(clean.read_text().splitlines()[0])["content"].startswith("<p>")


@pytest.mark.check
def test_index_and_similar(winnow: Winnow, rows: Path, tmp_path: Path) -> None:
    for option, matches in (("--text-field", [1, 1]), ("--html-field", [2, 2])):
        store = tmp_path / f"{option}.winnow"
        assert winnow("index", rows, "--store", store, option, "content").exit_code == 0
        questions = ("--batch", rows, option, "content", "--min-resemblance", "1")
        answers = winnow.json("similar", *questions, "--store", store)["answers"]
        assert [len(answer["matches"]) for answer in answers] == matches


def test_pairs(winnow: Winnow, rows: Path) -> None:
    for option, same in (("--text-field", False), ("--html-field", True)):
        (pair,) = winnow.json("pairs", rows, option, "content", "--min-similarity", "0")["pairs"]
        assert (pair["resemblance"] == 1) == same


def test_large_rows_are_kept_or_read(winnow: Winnow, tmp_path: Path) -> None:
    rows = json_lines(tmp_path / "rows.jsonl", {"text": WORDS * 9}, {"text": WORDS})
    exam, out = json_lines(tmp_path / "exam.jsonl", {"text": WORDS}), tmp_path / "out.jsonl"
    for command in (
        ("dedup", rows, "--to", out),
        ("dedup", rows, "--passages", "--to", out),
        ("contaminated", rows, "--against", exam, "--clean", out),
    ):
        for size, failed in (("1k", 1), ("1M", 0)):
            done = winnow(*command, "--overwrite", "--max-row-size", size, "--json")
            assert (done.exit_code, json.loads(done.stdout)["failed"]) == (failed, failed)
            assert ("--max-row-size reads larger rows." in done.stderr) == bool(failed)
            if failed:
                kept = json.loads((tmp_path / "out.jsonl.failed.jsonl").read_text())
                assert b64decode(kept["html_base64"]) == rows.read_bytes().splitlines()[0]
