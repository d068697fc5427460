from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import zstandard

from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.record_files.answer_table import ENDINGS, AnswerTable

COLUMNS = {"id": str, "share": float, "rows": [{"id": str, "count": int}]}
ROWS = [("a", 0.5, [{"id": "x", "count": 1}]), ("b\n,", 1.0, []), ("日本", 0.0, [{"id": "=1", "count": 2}] * 2)]
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".zst": lambda packed: zstandard.ZstdDecompressor().decompressobj().decompress(packed),
}
EXPECTED = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    text = UNPACK.get(path.suffix, bytes)(path.read_bytes()).decode()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in text.splitlines()]
    rows = csv.DictReader(text.splitlines(keepends=True))
    return [{**row, "share": float(row["share"]), "rows": json.loads(row["rows"])} for row in rows]


@pytest.mark.parametrize("ending", ENDINGS)
def test_rows_are_read_as_they_were_added(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    with AnswerTable(path, COLUMNS) as table:
        for row in ROWS:
            table.add(*row)
        assert not path.exists()
    assert table.rows == 3
    assert read(path) == EXPECTED
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_unfinished_table_leaves_the_old_one(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    path.write_text("old")
    table = AnswerTable(path, COLUMNS, overwrite=True)
    table.add(*ROWS[0])
    with pytest.raises(KeyboardInterrupt), table:
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_formula_is_text_in_a_spreadsheet(tmp_path: Path) -> None:
    with AnswerTable(tmp_path / "table.csv", {"id": str}) as table:
        table.add("=1+1")
    assert (tmp_path / "table.csv").read_text() == "id\n'=1+1\n"


@pytest.mark.parametrize("ending", ENDINGS)
def test_half_a_character_is_escaped(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    with AnswerTable(path, COLUMNS) as table:
        table.add("\udcff.txt", 1.0, [{"id": "日\ud800", "count": 1}])
    (row,) = read(path)
    assert row["id"] == ("\udcff.txt" if ".jsonl" in ending else r"\udcff.txt")
    assert row["rows"][0]["id"] == (r"日\ud800" if ending == ".parquet" else "日\ud800")  # a list in CSV is JSON


def test_a_file_that_exists_or_has_no_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(FileError, match=r"table\.csv exists; name another, or add --overwrite"):
        AnswerTable(path, COLUMNS)
    with pytest.raises(FileError, match=r"ends in \.jsonl, \.csv or \.parquet; \.jsonl and \.csv also with"):
        AnswerTable(tmp_path / "table.txt", COLUMNS)
    with pytest.raises(FileError, match="there is no folder"):
        AnswerTable(tmp_path / "no" / "table.csv", COLUMNS)


def test_a_json_line_may_have_other_names(tmp_path: Path) -> None:
    path = tmp_path / "TABLE.JSONL"
    with AnswerTable(path, COLUMNS) as table:
        assert table.is_json
        table.add_object({"name": "a\udcff", "found": None})
    assert [json.loads(line) for line in path.read_text().splitlines()] == [{"name": "a\udcff", "found": None}]
    with AnswerTable(tmp_path / "table.csv", COLUMNS) as table:
        assert not table.is_json


@pytest.mark.parametrize("free", ["50000", "0"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_is_one_sentence(tmp_path: Path, ending: str, free: str) -> None:
    path = tmp_path / f"table{ending}"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, path, free], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{path} cannot be written: File too large\n", "")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


FULL_DISK = """
import random, resource, signal, sys
from pathlib import Path
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.record_files import answer_table

answer_table.ROWS_PER_GROUP = 100
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    with answer_table.AnswerTable(Path(sys.argv[1]), {"id": str}, overwrite=True) as table:
        for number in range(400):
            table.add(random.randbytes(500).hex())
except FileError as error:
    print(error)
"""
