from __future__ import annotations

import gzip
import json
import os
import sys
from base64 import b64decode
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet as pq

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows import Edit, FailedRow, FieldNames, Row
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.runs.failed_pages import FailedPages, FailedRows
from opensearch_winnow.ingest.sources import SourceError
from tests.hostile_parquet import write_aborting
from tests.ingest.rows.copied_rows import LINE, copied, ids, keep, read_rows, rows_of, write_rows
from tests.ingest.sources.archives import write_files


@pytest.mark.parametrize(
    ("row", "fields", "address"),
    [
        ({"id": 7, "text": "x"}, FieldNames(), "7"),
        ({"id": " a b ", "text": "x"}, FieldNames(), " a b "),
        ({"_id": "m", "contents": "x"}, FieldNames(), "m"),
        ({"doc_id": "d", "raw_content": "x", "url": "https://example.org/"}, FieldNames(), "https://example.org/"),
        ({"id": "i", "url": "u", "text": "x"}, FieldNames(), "u"),
        ({"id": "i", "url": "u", "text": "x"}, FieldNames(id="id"), "i"),
        ({"key": None, "url": "u", "text": "x"}, FieldNames(id="key"), "a.jsonl#1"),
        ({"key": None, "url": "u", "text": "x"}, FieldNames(id="key", url="url"), "u"),
        ({"meta": {"url": "u"}, "text": "x"}, FieldNames(url="meta.url"), "u"),
        ({"meta": {"url": "u"}, "text": "x"}, FieldNames(), "a.jsonl#1"),
        ({"a.b": "dotted", "a": {"b": "inner"}, "text": "x"}, FieldNames(id="a.b"), "dotted"),
        ({"id": True, "text": "x"}, FieldNames(), "id is not a string"),
        ({"id": 1.5, "text": "x"}, FieldNames(), "id is not a string"),
        ({"id": 1, "story": None, "text": "x"}, FieldNames(text="story"), "no story"),
    ],
)
def test_the_id_of_a_row(tmp_path: Path, row: dict[str, object], fields: FieldNames, address: str) -> None:
    assert ids(write_rows(tmp_path / "a.jsonl", [row]), fields=fields) == [address]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_the_same_ids_in_every_format(tmp_path: Path, name: str) -> None:
    path = write_rows(tmp_path / name, [{"n": 3, "story": "a"}, {"n": None, "story": "b"}, {"n": 3, "story": "c"}])
    assert ids(path, fields=FieldNames(id="n", text="story")) == ["3", f"{name}#2", "3"]


def test_fields_of_other_meaning_do_not_make_a_row_fail(tmp_path: Path) -> None:
    row = {"id": 1, "text": "x", "date": "Monday", "title": 5, "content_type": 7, "codings": "none", "timestamp": []}
    assert rows_of(write_rows(tmp_path / "a.jsonl", [row])) == [Row(0, 0, Page("1", text="x"))]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_the_value_of_a_field_is_read_too(tmp_path: Path, name: str) -> None:
    path = write_rows(tmp_path / name, [{"text": "x", "meta": {"score": 1.5}}, {"text": "y", "meta": None}])
    assert [row.value for row in rows_of(path, value_field="meta.score") if isinstance(row, Row)] == [1.5, None]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.jsonl.gz", "a.csv", "a.parquet"])
def test_sources_without_the_needed_field_are_refused_at_once(tmp_path: Path, name: str) -> None:
    path = write_rows(tmp_path / name, [{"key": number, "story": "x"} for number in range(200)])
    for named in path, *([tmp_path] if name not in ("a.csv", "a.json") else []):
        with pytest.raises(SourceError, match=rf"{name} has no field with a text: its fields are key, story; .*--text"):
            RowFiles([str(named)])
    with pytest.raises(SourceError, match=rf"{name} has no field nr, .*--id-field .*: its fields are key, story$"):
        RowFiles([str(path)], FieldNames(id="nr", text="story"))
    assert len(ids(path, fields=FieldNames(id="key", text="story"))) == 200


def test_rows_are_in_the_order_of_the_sources(tmp_path: Path) -> None:
    rows = {"z.jsonl": LINE % 0, "a.jsonl": LINE % 2, "folder/deep/d.jsonl": LINE % 3}
    write_files(tmp_path, {**rows, "folder/b.txt": b"text", "folder/c.bin": b"\0\1"})
    names = ("z.jsonl", "folder", "a.jsonl", "folder/deep/d.jsonl")
    with RowFiles([str(tmp_path / name) for name in names]) as files:
        found = [row for row in files.rows() if isinstance(row, Row)]
        assert [(row.source, row.page.url) for row in found] == [(0, "0"), (1, "folder/b.txt"), (2, "2"), (3, "3")]
        assert files.skipped.total() == 1


def test_every_row_that_fails_is_counted_and_kept(tmp_path: Path) -> None:
    long = b'{"text": "%s"}' % (b"x" * 70_000)
    bad = [b"not json", b'{"id": 1}', b'{"text": "\\ud800", "id": 2}', b'{"text": "\xff"}', long]
    reasons = ["not JSON", "neither html nor text", "half a character in text", "not UTF-8", "larger than 0.001 MB"]
    (tmp_path / "a.jsonl").write_bytes(LINE % 0 + b"\n\n" + b"\r\n".join(bad) + b"\n" + LINE % 9)
    with RowFiles([str(tmp_path / "a.jsonl")], max_row_size=1_000) as files:
        with FailedPages(tmp_path / "failed.jsonl") as failed:
            found = list(files.rows(failed))
        where = [f"{tmp_path / 'a.jsonl'}, line {line}" for line in range(4, 9)]
        assert found[1:-1] == [FailedRow(n, 0, *each) for n, each in enumerate(zip(where, reasons, strict=True), 1)]
        assert [line["reason"] for line in read_rows(tmp_path / "failed.jsonl")] == reasons
        files.write(tmp_path / "failed.txt", lambda number: Edit() if 0 < number < 6 else None)
    assert (tmp_path / "failed.txt").read_bytes().strip().splitlines() == bad


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet", "folder"])
@pytest.mark.parametrize("size", [2_000, 100_000, 1_500_000])  # in bytes: the last two are more than a line is read of
def test_a_row_that_is_too_large_is_kept_with_its_content(tmp_path: Path, name: str, size: int) -> None:
    text = ("größer, als " * size)[:size]
    path, kept = tmp_path / name, tmp_path / "failed.jsonl"
    if name == "folder":
        path.mkdir()
        (path / "a.txt").write_text(text)
    else:
        write_rows(path, [{"id": "1", "text": text, **({"more": b"x"} if name == "a.parquet" else {})}])
    with RowFiles([str(path)], max_row_size=1_000) as files, FailedRows(kept) as failed:
        (row,) = files.rows(failed)
        failed.incomplete = False
    assert isinstance(row, FailedRow)
    assert row.reason == "larger than 0.001 MB"
    (written,) = read_rows(kept)
    content = b64decode(written["html_base64"]).decode()
    if name in ("a.csv", "folder"):
        assert content == (f'1,"{text}"\n' if name == "a.csv" else text)
    else:
        assert json.loads(content) == {"id": "1", "text": text}
        again = rows_of(kept, max_row_size=10_000_000)  # the file is a source itself
        assert [row.page.text for row in again if isinstance(row, Row)] == [text]


def test_views_of_strings_are_written_again(tmp_path: Path) -> None:
    view = pa.string_view()
    columns = {"id": pa.array(["a", "b", "c"], view), "text": pa.array(["x", "y" * 40, "z" * 40], view)}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with RowFiles([str(tmp_path / "a.parquet")]) as files:
        assert files.write(tmp_path / "b.parquet", lambda number: None if number == 1 else Edit(f"text {number}")) == 2
    assert read_rows(tmp_path / "b.parquet") == [{"id": "a", "text": "text 0"}, {"id": "c", "text": "text 2"}]


def test_zstandard_needs_no_reader_of_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.jsonl.zst", "a.csv.zst"):
        write_rows(tmp_path / name, [{"id": 7, "text": "x"}])
    (tmp_path / "a.zst").write_bytes(zstandard.compress(b"WARC/1.0\r\n" * 99))
    for module in ("fastwarc", "fastwarc.stream_io"):
        monkeypatch.setitem(sys.modules, module, None)
    assert ids(tmp_path / "a.jsonl.zst") == ids(tmp_path / "a.csv.zst") == ["7"]
    with pytest.raises(WinnowError, match=r"fastwarc is not installed: pip install .*archives"):
        ids(tmp_path / "a.zst")


@pytest.mark.parametrize("name", ["hf://datasets/a", "s3://bucket/a.jsonl"])
def test_an_address_is_no_source(name: str) -> None:
    with pytest.raises(SourceError, match=f"^{name} is an address"):
        ids(name)


def test_damaged_gzip_is_one_failed_row(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(LINE % number for number in range(50_000)))
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    *others, last = rows_of(tmp_path / "a.jsonl.gz")
    assert isinstance(last, FailedRow)
    assert last.reason == "gzip that is cut off"
    assert copied(tmp_path / "a.jsonl.gz", to=tmp_path / "b.jsonl") == len(others)
    assert (tmp_path / "b.jsonl").read_bytes().count(b"\n") == len(others)


def test_a_damaged_row_group(tmp_path: Path) -> None:
    rows = [{"id": number, "text": os.urandom(500).hex()} for number in range(40)]
    path = write_rows(tmp_path / "a.parquet", rows, row_group_size=10, compression="zstd")
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(1)
    data = bytearray(path.read_bytes())
    middle = chunk.dictionary_page_offset + chunk.total_compressed_size // 2
    data[middle : middle + 50] = bytes(50)
    path.write_bytes(data)
    with RowFiles([str(path)]) as files:
        failed = [row.number for row in files.rows() if isinstance(row, FailedRow)]
        assert failed == list(range(10, 20))
        assert files.count == 40
        with pytest.raises(SourceError, match="it is damaged"):
            files.write(tmp_path / "b.parquet", keep)
        assert not (tmp_path / "b.parquet").exists()
        assert files.write(tmp_path / "b.parquet", lambda n: None if n in failed else Edit()) == 30
    assert read_rows(tmp_path / "b.parquet") == rows[:10] + rows[20:]


def test_a_file_that_crashes_arrow_is_one_failed_row(tmp_path: Path, lines: Path) -> None:
    path = write_aborting(tmp_path / "b.parquet")
    assert ids(path, lines) == ["Parquet that cannot be read: Arrow crashes over its footer", "0", "1", "2"]
    with pytest.raises(SourceError, match="Arrow crashes over its footer"):
        copied(path, to=tmp_path / "c.parquet")


def test_csv_that_is_not_utf_8(tmp_path: Path) -> None:
    data = "id,text,more\n1,café,x\n2,tea,é\n".encode("latin-1")
    (tmp_path / "a.csv").write_bytes(data)
    assert ids(tmp_path / "a.csv") == ["not UTF-8", "2"]
    assert copied(tmp_path / "a.csv", to=tmp_path / "b.csv") == 2
    assert (tmp_path / "b.csv").read_bytes() == data


def test_huge_values_of_csv(tmp_path: Path) -> None:
    huge = '"' + 'line, ""quoted""\n' * 20_000 + '"'
    text = f"id,text\n1,{huge}\n2,small\n3,{huge}{huge}\n4,x\n"
    (tmp_path / "a.csv").write_text(text)
    assert ids(tmp_path / "a.csv") == ["1", "2", "3", "4"]
    assert ids(tmp_path / "a.csv", max_row_size=10_000) == ["larger than 0.01 MB", "2", "larger than 0.01 MB", "4"]
    with RowFiles([str(tmp_path / "a.csv")], max_row_size=10_000) as files:
        assert files.write(tmp_path / "b.csv", keep) == 4
        assert files.write(tmp_path / "c.csv", lambda number: Edit() if number in (1, 2) else None) == 2
    assert (tmp_path / "b.csv").read_text() == text
    assert (tmp_path / "c.csv").read_text() == f"id,text\n2,small\n3,{huge}{huge}\n"


def test_empty_files_have_no_rows(tmp_path: Path, lines: Path) -> None:
    (tmp_path / "e.jsonl").touch()
    (tmp_path / "e.csv").touch()
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "e.parquet")
    for name in "e.jsonl", "e.csv", "e.parquet":
        assert copied(tmp_path / name, to=tmp_path / f"new-{name}") == 0
    assert (tmp_path / "new-e.csv").read_bytes() == b""
    assert pq.read_table(tmp_path / "new-e.parquet").num_rows == 0
    assert ids(tmp_path / "e.jsonl", lines) == ["0", "1", "2"]
