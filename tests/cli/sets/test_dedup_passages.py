"""winnow dedup --passages, as its users call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Winnow, json_lines

NOTICE = " ".join(f"Word{number}" for number in range(60))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    texts = [f"One {NOTICE}", f"Two\n{NOTICE.upper()}", NOTICE, None]
    return json_lines(tmp_path / "in.jsonl", *({"id": str(n), "text": text} for n, text in enumerate(texts)))


def test_rows_are_written_without_passages(winnow: Winnow, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = winnow("dedup", source, "--passages", "--to", out)
    assert done.exit_code == 1  # a row failed
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == [f"One {NOTICE}", "Two\n"]
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert (head, {row[0] for row in rows[:4]}, rows[4][0]) == (["part", "name", "value"], {"count"}, "passages")
    counts = {"rows": 4, "kept": 2, "dropped": 1, "failed": 1, "passages": 2, "rows_with_passages": 2}
    counts |= {"characters": 3 * len(NOTICE) + 8, "characters_in_passages": 2 * len(NOTICE)}
    assert [row[1:] for row in rows[:8]] == [[name, str(count)] for name, count in counts.items()]
    assert f"The failed rows are in {out}.failed.jsonl." in done.stderr
    assert json.loads(Path(f"{out}.failed.jsonl").read_text())["reason"] == "neither html nor text"
    assert "add --overwrite" in winnow.refused("dedup", source, "--passages", "--to", out)


def test_json_is_one_object(winnow: Winnow, source: Path, tmp_path: Path) -> None:
    options = ("--passages", "--words", "20", "--documents", "3", "--occurrences", "every", "--quiet")
    written = ("--spans", tmp_path / "spans.jsonl", "--attributes", tmp_path / "attributes")
    document = winnow.json("dedup", source, *options, *written, code=1)
    assert (document["rows"], document["kept"], document["dropped"], document["failed"]) == (4, 2, 1, 1)
    assert (document["words"], document["documents"], document["occurrences"]) == (20, 3, "every")
    assert document["most_frequent"] == [
        {"count": 3, "row": 0, "id": "0", "start": 4, "end": 4 + len(NOTICE), "beginning": NOTICE[:80]}
    ]
    assert len((tmp_path / "spans.jsonl").read_text().splitlines()) == 3
    assert len((tmp_path / "attributes" / "in.jsonl").read_text().splitlines()) == 4


def test_a_dry_run_writes_nothing(winnow: Winnow, source: Path, tmp_path: Path) -> None:
    done = winnow("dedup", source, "--passages", "--dry-run", "--to", tmp_path / "out.jsonl", "--color", "always")
    assert "2 repeated passages in 2 rows: 66 % of all text" in done.stdout
    assert f"\n3  {NOTICE[:40].upper()}" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_no_rows(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("\n\n")
    done = winnow("dedup", tmp_path / "in.jsonl", "--passages", "--dry-run")
    assert (done.exit_code, "No rows in" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--passages"], "say what to write: add --to OUT, --spans OUT, --attributes FOLDER or --dry-run"),
        (["--passages", "--dry-run", "--min-resemblance", "0.5"], "--min-resemblance has no effect with --passages"),
        (["--passages", "--dry-run", "--mark"], "--mark has no effect with --passages"),
        (["--dry-run", "--words", "50"], "--words needs --passages"),
        (["--dry-run", "--spans", "spans.jsonl"], "--spans needs --passages"),
        (["--passages", "--dry-run", "--documents", "1"], "'1' is not a whole number from 2"),
        (["--passages", "--spans", "-"], "--spans - is not supported: name a file"),
        (["--passages", "--spans", "spans.txt"], "name a file that ends in .jsonl, .csv or .parquet"),
    ],
)
def test_what_has_no_meaning_is_refused(winnow: Winnow, source: Path, options: list[str], message: str) -> None:
    assert message in winnow.refused("dedup", source, *options)
