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
from tests.ingest.rows.copied_rows import LINE, copied, ids, keep

# --- ids and fields -------------------------------------------------------------------------------------------------


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
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    assert ids([tmp_path / "a.jsonl"], fields=fields) == [address]


def test_the_same_ids_in_every_format(tmp_path: Path) -> None:
    rows = [{"n": 3, "story": "a"}, {"n": None, "story": "b"}, {"n": 3, "story": "c"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "a.csv").write_text("n;story\n3;a\n;b\n3;c\n")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for name in "a.jsonl", "a.csv", "a.parquet":
        found = ids([tmp_path / name], fields=FieldNames(id="n", text="story"))
        assert found == ["3", f"{name}#2", "3"]


def test_fields_of_other_meaning_do_not_make_a_row_fail(tmp_path: Path) -> None:
    row = {"id": 1, "text": "x", "date": "Monday", "title": 5, "content_type": 7, "codings": "none", "timestamp": []}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    with RowFiles([str(tmp_path / "a.jsonl")]) as files:
        assert list(files.rows()) == [Row(0, 0, Page("1", text="x"))]


def test_the_value_of_a_field_is_read_too(tmp_path: Path) -> None:
    rows = [{"text": "x", "meta": {"score": 1.5}}, {"text": "y", "meta": None}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for name in "a.jsonl", "a.parquet":
        with RowFiles([str(tmp_path / name)], value_field="meta.score") as files:
            assert [row.value for row in files.rows() if isinstance(row, Row)] == [1.5, None]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.jsonl.gz", "a.csv", "a.parquet"])
def test_sources_without_the_needed_field_are_refused_at_once(tmp_path: Path, name: str) -> None:
    rows = [{"key": number, "story": "x"} for number in range(200)]
    written = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if name == "a.parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / name)
    else:
        data = b"key,story\n1,x\n" if name == "a.csv" else gzip.compress(written) if name.endswith("gz") else written
        (tmp_path / name).write_bytes(data)
    complaint = rf"{name} has no field with a text: its fields are key, story; name the one .* with --text-field or "
    for named in tmp_path / name, *([tmp_path] if name not in ("a.csv", "a.json") else []):
        with pytest.raises(SourceError, match=complaint):
            RowFiles([str(named)])
    with pytest.raises(
        SourceError, match=rf"{name} has no field nr, which --id-field or .* names: its fields are key, story$"
    ):
        RowFiles([str(tmp_path / name)], FieldNames(id="nr", text="story"))
    assert len(ids([tmp_path / name], fields=FieldNames(id="key", text="story"))) == (1 if name == "a.csv" else 200)


# --- order, places and failures -------------------------------------------------------------------------------------


def test_rows_are_in_the_order_of_the_sources(tmp_path: Path) -> None:
    (tmp_path / "z.jsonl").write_bytes(LINE % 1)
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    (tmp_path / "folder" / "b.txt").write_text("text")
    (tmp_path / "folder" / "c.bin").write_bytes(b"\0\1")
    (tmp_path / "folder" / "deep" / "d.jsonl").write_bytes(LINE % 2)
    (tmp_path / "a.jsonl").write_bytes(LINE % 3)
    names = [str(tmp_path / name) for name in ("z.jsonl", "folder", "a.jsonl", "folder/deep/d.jsonl")]
    with RowFiles(names) as files:
        found = [row for row in files.rows() if isinstance(row, Row)]
        assert [(row.source, row.page.url) for row in found] == [(0, "1"), (1, "folder/b.txt"), (2, "3"), (3, "2")]
        assert files.skipped.total() == 1


def test_every_row_that_fails_is_counted_and_kept(tmp_path: Path) -> None:
    bad = [
        b"not json",
        b'{"id": 1}',
        b'{"text": "\\ud800", "id": 2}',
        b'{"text": "\xff"}',
        b'{"text": "%s"}' % (b"x" * 70_000),
    ]
    (tmp_path / "a.jsonl").write_bytes(LINE % 0 + b"\n\n" + b"\r\n".join(bad) + b"\n" + LINE % 9)
    with RowFiles([str(tmp_path / "a.jsonl")], max_row_size=1_000) as files:
        with FailedPages(tmp_path / "failed.jsonl") as failed:
            found = list(files.rows(failed))
        where = [f"{tmp_path / 'a.jsonl'}, line {line}" for line in range(4, 9)]
        reasons = ["not JSON", "neither html nor text", "half a character in text", "not UTF-8", "larger than 0.001 MB"]
        failures = [FailedRow(n, 0, *each) for n, each in enumerate(zip(where, reasons, strict=True), 1)]
        assert found[1:-1] == failures
        kept = [json.loads(line) for line in (tmp_path / "failed.jsonl").read_bytes().splitlines()]
        assert [line["reason"] for line in kept] == reasons
        files.write(tmp_path / "failed.txt", lambda number: Edit() if 0 < number < 6 else None)
    lines = (tmp_path / "failed.txt").read_bytes().strip().splitlines()
    assert lines[0] == bad[0]
    assert lines[1:] == bad[1:]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet", "folder"])
@pytest.mark.parametrize("size", [2_000, 100_000, 1_500_000])  # in bytes: the last two are more than a line is read of
def test_a_row_that_is_too_large_is_kept_with_its_content(tmp_path: Path, name: str, size: int) -> None:
    text = ("größer als " * size)[:size]
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.table({"id": ["1"], "text": [text], "more": [b"x"]}), path)
    elif name == "a.csv":
        path.write_text(f'id,text\n1,"{text}"\n')
    elif name == "folder":
        path.mkdir()
        (path / "a.txt").write_text(text)
    else:
        line = f"{json.dumps({'id': '1', 'text': text}, ensure_ascii=False)}\n".encode()
        path.write_bytes(gzip.compress(line) if name.endswith(".gz") else line)
    kept = tmp_path / "failed.jsonl"
    with RowFiles([str(path)], max_row_size=1_000) as files, FailedRows(kept) as failed:
        (row,) = files.rows(failed)
        failed.incomplete = False
    assert isinstance(row, FailedRow)
    assert row.reason == "larger than 0.001 MB"
    (written,) = map(json.loads, kept.read_text().splitlines())
    content = b64decode(written["html_base64"]).decode()
    if name == "a.csv":
        assert content == f'1,"{text}"\n'
    elif name == "folder":
        assert content == text
    else:
        assert json.loads(content) == {"id": "1", "text": text}
        with RowFiles([str(kept)], max_row_size=10_000_000) as files:  # the file is a source itself
            assert [row.page.text for row in files.rows() if isinstance(row, Row)] == [text]


def test_views_of_strings_are_written_again(tmp_path: Path) -> None:
    view = pa.string_view()
    columns = {"id": pa.array(["a", "b", "c"], view), "text": pa.array(["x", "y" * 40, "z" * 40], view)}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with RowFiles([str(tmp_path / "a.parquet")]) as files:
        assert files.write(tmp_path / "b.parquet", lambda number: None if number == 1 else Edit(f"text {number}")) == 2
    rows = [{"id": "a", "text": "text 0"}, {"id": "c", "text": "text 2"}]
    assert pq.read_table(tmp_path / "b.parquet").to_pylist() == rows


def test_zstandard_needs_no_reader_of_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("a.jsonl.zst", LINE % 7), ("a.csv.zst", b"id,text\n7,x\n"), ("a.zst", b"WARC/1.0\r\n" * 99)):
        (tmp_path / name).write_bytes(zstandard.compress(content))
    for module in ("fastwarc", "fastwarc.stream_io"):
        monkeypatch.setitem(sys.modules, module, None)
    assert ids([tmp_path / "a.jsonl.zst"]) == ids([tmp_path / "a.csv.zst"]) == ["7"]
    with pytest.raises(WinnowError, match=r"fastwarc is not installed: pip install .*archives"):
        ids([tmp_path / "a.zst"])


def test_an_address_is_no_source() -> None:
    for name in ("hf://datasets/a", "s3://bucket/a.jsonl"):
        with pytest.raises(SourceError, match=f"^{name} is an address. Sources are files: fetch it first$"):
            ids([name])


def test_damaged_gzip_is_one_failed_row(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(LINE % number for number in range(50_000)))
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with RowFiles([str(tmp_path / "a.jsonl.gz")]) as files:
        found = list(files.rows())
        assert isinstance(found[-1], FailedRow)
        assert found[-1].reason == "gzip that is cut off"
        assert files.write(tmp_path / "b.jsonl", keep) == len(found) - 1
    assert (tmp_path / "b.jsonl").read_bytes().count(b"\n") == len(found) - 1


def test_a_damaged_row_group(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"id": list(range(40)), "text": [os.urandom(500).hex() for _ in range(40)]})
    pq.write_table(table, path, row_group_size=10, compression="zstd")
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
    assert pq.read_table(tmp_path / "b.parquet")["id"].to_pylist() == [*range(10), *range(20, 40)]


def test_csv_that_is_not_utf_8(tmp_path: Path) -> None:
    data = "id,text,more\n1,café,x\n2,tea,é\n".encode("latin-1")
    (tmp_path / "a.csv").write_bytes(data)
    assert ids([tmp_path / "a.csv"]) == ["not UTF-8", "2"]
    assert copied([tmp_path / "a.csv"], tmp_path / "b.csv") == 2
    assert (tmp_path / "b.csv").read_bytes() == data


def test_huge_values_of_csv(tmp_path: Path) -> None:
    huge = '"' + 'line, ""quoted""\n' * 20_000 + '"'
    text = f"id,text\n1,{huge}\n2,small\n3,{huge}{huge}\n4,x\n"
    (tmp_path / "a.csv").write_text(text)
    assert ids([tmp_path / "a.csv"]) == ["1", "2", "3", "4"]
    assert ids([tmp_path / "a.csv"], max_row_size=10_000) == ["larger than 0.01 MB", "2", "larger than 0.01 MB", "4"]
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
        assert copied([tmp_path / name], tmp_path / f"new-{name}") == 0
    assert (tmp_path / "new-e.csv").read_bytes() == b""
    assert pq.read_table(tmp_path / "new-e.parquet").num_rows == 0
    assert ids([tmp_path / "e.jsonl", lines]) == ["0", "1", "2"]
