from __future__ import annotations

import gzip
import io
import json
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows import Edit, FailedRow, FieldNames, Row
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.sources import SourceError

LINE = b'{"id": %d, "text": "x"}\n'


def keep(number: int) -> Edit:  # noqa: ARG001
    return Edit()


def drop(number: int) -> None:  # noqa: ARG001
    return None


def ids(names: Sequence[Path | str], **options: object) -> list[str]:
    with RowFiles([str(name) for name in names], **options) as files:  # type: ignore[arg-type]
        return [row.page.url if isinstance(row, Row) else row.reason for row in files.rows()]


def copied(sources: Sequence[Path], to: Path | str, **options: object) -> int:
    with RowFiles([str(source) for source in sources]) as files:
        for _ in files.rows():
            pass
        return files.write(to, keep, **options)  # type: ignore[arg-type]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_bytes(b"".join(LINE % number for number in range(3)))
    return tmp_path / "a.jsonl"


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
    complaint = rf"{name} has no field with a text: its fields are key, story; name the one .* with --text-field$"
    for named in tmp_path / name, *([tmp_path] if name not in ("a.csv", "a.json") else []):
        with pytest.raises(SourceError, match=complaint):
            RowFiles([str(named)])
    with pytest.raises(
        SourceError, match=rf"{name} has no field nr, which --id-field names: its fields are key, story$"
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


# --- writing --------------------------------------------------------------------------------------------------------


def test_a_text_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    line = b' {"n": 1.10, "a": {"text": "in"}, "text":"old" , "big": 1E400, "nan": NaN, "text" : "older"} \r\n'
    (tmp_path / "a.jsonl").write_bytes(line)
    with RowFiles([str(tmp_path / "a.jsonl")]) as files:
        files.write(tmp_path / "b.jsonl", lambda _: Edit("né", {"n": None, "m": [1]}), {"n": int, "m": str})
        files.write(tmp_path / "c.jsonl", lambda _: Edit("new"))
    assert (tmp_path / "b.jsonl").read_bytes() == (
        b' {"n": null, "a": {"text": "in"}, "text":"n\\u00e9" , "big": 1E400, "nan": NaN, "text" : "n\\u00e9", '
        b'"m": [1]} \r\n'
    )
    assert (tmp_path / "c.jsonl").read_bytes() == line.replace(b'"old"', b'"new"').replace(b'"older"', b'"new"')


def test_the_field_that_was_used_is_replaced(tmp_path: Path) -> None:
    rows: list[dict[str, str | None]] = [
        {"text": "", "content": "c", "html": None},
        {"text": "t", "content": "c", "html": ""},
        {"text": "t", "content": "c", "html": "<p>h"},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("text,content,html\n,c,\nt,c,\nt,c,<p>h\n")
    for name in "a.jsonl", "a.parquet", "a.csv":
        with RowFiles([str(tmp_path / name)]) as files:
            files.write(tmp_path / f"new-{name}", lambda _: Edit("n"))
    expected = [{**row, key: "n"} for row, key in zip(rows, ("content", "text", "html"), strict=True)]
    assert [json.loads(line) for line in (tmp_path / "new-a.jsonl").read_text().splitlines()] == expected
    assert pq.read_table(tmp_path / "new-a.parquet").to_pylist() == expected
    assert (tmp_path / "new-a.csv").read_text() == "text,content,html\n,n,\nn,c,\nt,c,n\n"


def test_a_text_within_another_field(tmp_path: Path) -> None:
    row = {"doc": {"body": {"t": "old", "u": 1}}, "id": "i"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    for name in "a.jsonl", "a.parquet":
        with RowFiles([str(tmp_path / name)], FieldNames(text="doc.body.t")) as files:
            assert [r.page.text for r in files.rows() if isinstance(r, Row)] == ["old"]
            files.write(tmp_path / f"new-{name}", lambda _: Edit("new"))
    new = {"doc": {"body": {"t": "new", "u": 1}}, "id": "i"}
    assert json.loads((tmp_path / "new-a.jsonl").read_text()) == new
    assert pq.read_table(tmp_path / "new-a.parquet").to_pylist() == [new]


def test_several_files_become_one(tmp_path: Path, lines: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes((LINE % 7).rstrip())
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(LINE % 8))
    assert copied([tmp_path / "b.jsonl", lines, tmp_path / "c.jsonl.gz"], tmp_path / "all.jsonl") == 5
    expected = LINE % 7 + lines.read_bytes() + LINE % 8
    assert (tmp_path / "all.jsonl").read_bytes() == expected
    for name in "a", "b":
        (tmp_path / f"{name}.csv").write_text(f"id,text\r\n1,{name}")
        pq.write_table(pa.table({"text": [name]}), tmp_path / f"{name}.parquet")
    copied([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_bytes() == b"id,text\r\n1,a\r\n1,b"
    copied([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "all.parquet")
    assert pq.read_table(tmp_path / "all.parquet").to_pydict() == {"text": ["a", "b"]}


def test_several_files_with_other_columns_do_not_become_one(tmp_path: Path, lines: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,x\n")
    (tmp_path / "b.csv").write_text("text,id\n1,x\n")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["a"], "n": [1]}), tmp_path / "b.parquet")
    for kind in "csv", "parquet":
        with pytest.raises(SourceError, match=r"has other columns than .*: write each to a file of its own"):
            copied([tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"], tmp_path / f"all.{kind}")
        assert not (tmp_path / f"all.{kind}").exists()
    with pytest.raises(SourceError, match="the sources are JSONL and CSV: write each to a file of its own"):
        copied([lines, tmp_path / "a.csv"], tmp_path / "all.jsonl")
    with pytest.raises(SourceError, match=r"b.parquet is the name of a Parquet file, but the rows are JSONL"):
        copied([lines], tmp_path / "b.parquet", overwrite=True)


def test_a_folder_is_copied_with_its_structure(tmp_path: Path) -> None:
    source = tmp_path / "in"
    (source / "deep").mkdir(parents=True)
    (source / "a.txt").write_text("one")
    (source / "deep" / "ü.html").write_text("<p>two")
    (source / "deep" / "c.md.gz").write_bytes(gzip.compress(b"three"))
    (source / "deep" / "d.jsonl").write_bytes(LINE % 1)
    (source / "picture.png").write_bytes(b"\x89PNG\r\n\0")
    with RowFiles([str(source)]) as files:
        found = {row.page.url: row.number for row in files.rows() if isinstance(row, Row)}
        assert list(found) == ["a.txt", "deep/c.md.gz", "1", "deep/ü.html"]
        edits = {found["deep/c.md.gz"]: Edit("nine"), found["deep/ü.html"]: Edit(), found["1"]: Edit()}
        assert files.write(tmp_path / "out", edits.get) == 3
        with pytest.raises(SourceError, match="a file without columns: keep cannot be added"):
            files.write(tmp_path / "other", keep, {"keep": bool})
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert written == {"deep/c.md.gz", "deep/d.jsonl", "deep/ü.html"}
    assert gzip.decompress((tmp_path / "out/deep/c.md.gz").read_bytes()) == b"nine"
    assert (tmp_path / "out/deep/d.jsonl").read_bytes() == LINE % 1


def test_web_archives_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(
        b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://example.org/\r\n"
        b"Content-Length: 4\r\n\r\ntext\r\n\r\n"
    )
    assert ids([tmp_path / "a.warc"]) == ["https://example.org/"]
    with (
        RowFiles([str(tmp_path / "a.warc")]) as files,
        pytest.raises(SourceError, match=r"web archive.*write ids instead"),
    ):
        files.check_output(tmp_path / "b.warc")


def test_standard_input_is_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,text\n1,x\n2,y\n")))
    with RowFiles(["-", str(lines)]) as files:
        assert [row.page.url for row in files.rows() if isinstance(row, Row)] == ["1", "2", "0", "1", "2"]
        assert files.write(f"{tmp_path}/out/", lambda number: Edit() if number else None) == 4
    assert (tmp_path / "out" / "stdin").read_text() == "id,text\n2,y\n"
    assert (tmp_path / "out" / "a.jsonl").read_bytes() == lines.read_bytes()


# --- what is refused ------------------------------------------------------------------------------------------------


def test_a_source_is_never_overwritten(tmp_path: Path, lines: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(lines)
    for to in lines, tmp_path / "link.jsonl", f"{tmp_path}/":
        with RowFiles([str(lines)]) as files, pytest.raises(WinnowError, match="is one of the sources"):
            files.write(to, drop, overwrite=True)
    with RowFiles([str(tmp_path)]) as files, pytest.raises(WinnowError, match="is one of the sources"):
        files.write(tmp_path, drop, overwrite=True)
    assert lines.read_bytes().count(b"\n") == 3


def test_what_exists_is_overwritten_only_on_request(tmp_path: Path, lines: Path) -> None:
    for to in tmp_path / "b.jsonl", f"{tmp_path}/out/":
        assert copied([lines], to) == 3
        with pytest.raises(WinnowError, match="exists: name another, or add --overwrite"):
            copied([lines], to)
        with RowFiles([str(lines)]) as files:
            files.write(to, drop, overwrite=True)
    (tmp_path / "out" / "other").touch()
    with RowFiles([str(lines)]) as files:
        files.write(tmp_path / "out", keep, overwrite=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.jsonl", "other"]
    assert (tmp_path / "b.jsonl").read_bytes() == b""


@pytest.mark.parametrize("late", [False, True])
def test_a_source_that_changes_is_an_error(tmp_path: Path, lines: Path, late: bool) -> None:
    (tmp_path / "b.jsonl").write_bytes(b"old")

    def change() -> None:
        lines.write_bytes(lines.read_bytes() + LINE % 9)

    def decide(number: int) -> Edit:
        if number == 1 and late:
            change()
        return Edit()

    with RowFiles([str(lines)]) as files:
        assert len(list(files.rows())) == 3
        if not late:
            change()
        with pytest.raises(SourceError, match=r"a.jsonl has changed since it was read: start again"):
            files.write(tmp_path / "b.jsonl", decide, overwrite=True)
    assert (tmp_path / "b.jsonl").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl"]


def test_a_file_that_disappears_from_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in "a", "b", "c":
        (tmp_path / "in" / f"{name}.txt").write_text(name)
    with RowFiles([str(tmp_path / "in")]) as files:
        assert len(list(files.rows())) == 3
        (tmp_path / "in" / "c.txt").unlink()
        with pytest.raises(SourceError, match="have changed since they were read"):
            files.write(tmp_path / "out", keep)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.parquet", "folder"])
def test_a_full_disk(tmp_path: Path, name: str) -> None:
    rows = [{"id": number, "text": os.urandom(2_000).hex()} for number in range(1_000)]
    source = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.Table.from_pylist(rows), source)
    elif name == "a.csv":
        source.write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows))
    elif name == "folder":
        source.mkdir()
        (source / "a.txt").write_text("".join(str(row["text"]) for row in rows))
    else:
        (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        if name != "a.jsonl":
            copied([tmp_path / "a.jsonl"], source)
            (tmp_path / "a.jsonl").unlink()
    before = sorted(tmp_path.iterdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with RowFiles([str(source)]) as files:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(WinnowError, match=r"^\S+ cannot be written: File too large$"):
                files.write(tmp_path / f"new-{name}", keep)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(tmp_path.iterdir()) == before
