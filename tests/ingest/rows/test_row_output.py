from __future__ import annotations

import gc
import gzip
import io
import json
import os
import resource
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.rows import Edit, FieldNames, Row
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.sources import SourceError
from tests.ingest.rows.copied_rows import LINE, copied, drop, ids, keep
from tests.interrupts import is_interrupted

WRITING = (
    "opensearch_winnow.foundation.atomic_file",
    "opensearch_winnow.foundation.packed",
    "opensearch_winnow.ingest.rows",
    "opensearch_winnow.record_files",
)

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
    (source / "picture.png").write_bytes(b"\x89PNG\r\n\0")
    with RowFiles([str(source)]) as files:
        found = {row.page.url: row.number for row in files.rows() if isinstance(row, Row)}
        assert list(found) == ["a.txt", "deep/c.md.gz", "deep/ü.html"]
        edits = {found["deep/c.md.gz"]: Edit("nine"), found["deep/ü.html"]: Edit()}
        assert files.write(tmp_path / "out", edits.get) == 2
        with pytest.raises(SourceError, match="a file without columns: keep cannot be added"):
            files.write(tmp_path / "other", keep, {"keep": bool})
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert written == {"deep/c.md.gz", "deep/ü.html"}
    assert gzip.decompress((tmp_path / "out/deep/c.md.gz").read_bytes()) == b"nine"
    with RowFiles([str(source)]) as files:
        with pytest.raises(SourceError, match="name a folder, with / at its end"):
            files.write(tmp_path / "out.jsonl", keep)
        files.write(tmp_path / "out", {0: Edit()}.get, overwrite=True)
    assert [path.name for path in (tmp_path / "out").rglob("*") if path.is_file()] == ["a.txt"]


def test_texts_beside_files_of_rows_are_not_read(tmp_path: Path) -> None:
    source = tmp_path / "set"
    (source / "data").mkdir(parents=True)
    (source / "README.md").write_text("About this set")
    (source / "data" / "a.jsonl").write_bytes(LINE % 1)
    (source / "data" / "none.jsonl").write_text('{"size": 1}')
    named = tmp_path / "notes.txt"
    named.write_text("a text that is named")
    with RowFiles([str(source), str(named)]) as files:
        assert [row.page.url for row in files.rows() if isinstance(row, Row)] == ["1", "notes.txt"]
        assert files.other_texts == ["set/README.md"]
    (source / "data" / "none.jsonl").unlink()
    with RowFiles([str(source)]) as files:
        files.write(tmp_path / "out.jsonl", keep)
    assert (tmp_path / "out.jsonl").read_bytes() == LINE % 1


@pytest.mark.parametrize("overwrite", [False, True])
def test_files_of_an_earlier_run_do_not_remain(tmp_path: Path, overwrite: bool) -> None:
    for number in range(3):
        (tmp_path / f"p{number}.jsonl").write_bytes(LINE % number)
    names = [str(tmp_path / f"p{number}.jsonl") for number in range(3)]
    with RowFiles(names) as files:
        files.write(tmp_path / "out", keep)
    (tmp_path / "out" / ".hidden").touch()
    if not overwrite:
        for name in ("p0.jsonl", "p1.jsonl"):
            (tmp_path / "out" / name).unlink()
    with (
        RowFiles(names[:2]) as files,
        pytest.raises(WinnowError, match=r"out has files that this run does not write: p2\.jsonl; remove them"),
    ):
        files.check_output(tmp_path / "out", overwrite=overwrite)
    (tmp_path / "out" / "p2.jsonl").unlink()
    with RowFiles(names[:2]) as files:
        files.write(tmp_path / "out", drop, overwrite=True)
    assert [(tmp_path / "out" / name).read_bytes() for name in ("p0.jsonl", "p1.jsonl")] == [b"", b""]


def test_a_folder_that_does_not_exist(tmp_path: Path, lines: Path) -> None:
    with (
        RowFiles([str(lines)]) as files,
        pytest.raises(WinnowError, match=r"x\.jsonl cannot be written: there is no folder .*none"),
    ):
        files.check_output(tmp_path / "none" / "x.jsonl")


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
        with pytest.raises(WinnowError, match="exists; name another, or add --overwrite"):
            copied([lines], to)
        with RowFiles([str(lines)]) as files:
            files.write(to, drop, overwrite=True)
    with RowFiles([str(lines)]) as files:
        files.write(tmp_path / "out", keep, overwrite=True)
    assert (tmp_path / "out" / "a.jsonl").read_bytes() == lines.read_bytes()
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


@pytest.mark.parametrize("to", ["b.jsonl", "out/"])
def test_a_killed_process_leaves_the_old_output(tmp_path: Path, lines: Path, to: str) -> None:
    copied([lines], f"{tmp_path}/{to}")
    old = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    program = (
        "import os, signal, sys\n"
        "from opensearch_winnow.ingest.rows import Edit\n"
        "from opensearch_winnow.ingest.rows.row_files import RowFiles\n"
        "with RowFiles([sys.argv[1]]) as files:\n"
        "    die = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    files.write(sys.argv[2], lambda n: die() if n else Edit(), overwrite=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(lines), f"{tmp_path}/{to}"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert {path: path.read_bytes() for path in old} == old
    with RowFiles([str(lines)]) as files:
        assert files.write(f"{tmp_path}/{to}", lambda number: Edit() if number else None, overwrite=True) == 2
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == set(old)


@pytest.mark.check
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of files that nobody could close
@pytest.mark.parametrize("to", ["out/new.jsonl", "out/new/"])
def test_ctrl_c_at_any_moment_leaves_all_or_nothing(tmp_path: Path, to: str) -> None:
    source, out, line = tmp_path / "a.jsonl", tmp_path / "out", LINE % 1
    source.write_bytes(line)
    out.mkdir()

    def write() -> None:
        with RowFiles([str(source)]) as files:
            files.write(tmp_path / to if to.endswith("jsonl") else f"{tmp_path / to}/", keep)

    for moment in count():
        stopped = is_interrupted(write, moment, *WRITING)
        if list(out.rglob(".*")):  # the error may be part of a cycle, which the end of a process collects
            gc.collect()
        written = [path for path in out.rglob("*") if path.is_file()]
        assert [path.read_bytes() for path in written] in ([[], [line]] if stopped else [[line]]), moment
        assert not list(out.rglob(".*")), moment
        if not stopped:
            break
        for path in written:
            path.unlink()
        for path in out.iterdir():
            path.rmdir()
    assert moment > 50
