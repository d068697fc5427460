from __future__ import annotations

import gc
import gzip
import io
import os
import resource
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.rows import Edit, FieldNames, Row
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.sources import SourceError
from tests.ingest.rows.copied_rows import LINE, copied, drop, ids, keep, read_rows, rows_of, write_rows
from tests.ingest.sources.archives import record, write_files
from tests.interrupts import is_interrupted

MODULES = ("foundation.atomic_file", "foundation.packed", "ingest.rows", "record_files")
WRITING = [f"opensearch_winnow.{name}" for name in MODULES]


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


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


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.csv"])
def test_the_field_that_was_used_is_replaced(tmp_path: Path, name: str) -> None:
    none = "" if name == "a.csv" else None
    rows: list[dict[str, str | None]] = [
        {"text": "", "content": "c", "html": none},
        {"text": "t", "content": "c", "html": ""},
        {"text": "t", "content": "c", "html": "<p>h"},
    ]
    copied(write_rows(tmp_path / name, rows), to=tmp_path / f"new-{name}", decide=lambda _: Edit("n"))
    expected = [{**row, key: "n"} for row, key in zip(rows, ("content", "text", "html"), strict=True)]
    assert read_rows(tmp_path / f"new-{name}") == expected
    if name == "a.csv":
        assert (tmp_path / "new-a.csv").read_text() == "text,content,html\n,n,\nn,c,\nt,c,n\n"


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_text_within_another_field(tmp_path: Path, name: str) -> None:
    path = write_rows(tmp_path / name, [{"doc": {"body": {"t": "old", "u": 1}}, "id": "i"}])
    fields = FieldNames(text="doc.body.t")
    assert [row.page.text for row in rows_of(path, fields=fields) if isinstance(row, Row)] == ["old"]
    copied(path, to=tmp_path / f"new-{name}", decide=lambda _: Edit("new"), fields=fields)
    assert read_rows(tmp_path / f"new-{name}") == [{"doc": {"body": {"t": "new", "u": 1}}, "id": "i"}]


def test_several_files_become_one(tmp_path: Path, lines: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes((LINE % 7).rstrip())
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(LINE % 8))
    assert copied(tmp_path / "b.jsonl", lines, tmp_path / "c.jsonl.gz", to=tmp_path / "all.jsonl") == 5
    assert (tmp_path / "all.jsonl").read_bytes() == LINE % 7 + lines.read_bytes() + LINE % 8
    for name in "a", "b":
        (tmp_path / f"{name}.csv").write_text(f"id,text\r\n1,{name}")
        write_rows(tmp_path / f"{name}.parquet", [{"text": name}])
    for kind in "csv", "parquet":
        copied(tmp_path / f"a.{kind}", tmp_path / f"b.{kind}", to=tmp_path / f"all.{kind}")
    assert (tmp_path / "all.csv").read_bytes() == b"id,text\r\n1,a\r\n1,b"
    assert read_rows(tmp_path / "all.parquet") == [{"text": "a"}, {"text": "b"}]


def test_several_files_with_other_columns_do_not_become_one(tmp_path: Path, lines: Path) -> None:
    for kind, row in (("csv", {"text": "x", "id": 1}), ("parquet", {"id": 1, "text": "x", "n": 1})):
        one = write_rows(tmp_path / f"a.{kind}", [{"id": 1, "text": "x"}])
        other = write_rows(tmp_path / f"b.{kind}", [row])
        with pytest.raises(SourceError, match=r"has other columns than .*: write each to a file of its own"):
            copied(one, other, to=tmp_path / f"all.{kind}")
        assert not (tmp_path / f"all.{kind}").exists()
    with pytest.raises(SourceError, match="the sources are JSONL and CSV: write each to a file of its own"):
        copied(lines, tmp_path / "a.csv", to=tmp_path / "all.jsonl")
    with pytest.raises(SourceError, match=r"b.parquet is the name of a Parquet file, but the rows are JSONL"):
        copied(lines, to=tmp_path / "b.parquet", overwrite=True)


def test_a_folder_is_copied_with_its_structure(tmp_path: Path) -> None:
    texts = {"a.txt": b"one", "deep/ü.html": b"<p>two", "deep/c.md.gz": gzip.compress(b"three")}
    source = write_files(tmp_path / "in", {**texts, "picture.png": b"\x89PNG\r\n\0"})
    with RowFiles([str(source)]) as files:
        found = {row.page.url: row.number for row in files.rows() if isinstance(row, Row)}
        assert list(found) == ["a.txt", "deep/c.md.gz", "deep/ü.html"]
        edits = {found["deep/c.md.gz"]: Edit("nine"), found["deep/ü.html"]: Edit()}
        assert files.write(tmp_path / "out", edits.get) == 2
        with pytest.raises(SourceError, match="a file without columns: keep cannot be added"):
            files.write(tmp_path / "other", keep, {"keep": bool})
    assert {path.name for path in files_in(tmp_path / "out")} == {"c.md.gz", "ü.html"}
    assert gzip.decompress((tmp_path / "out/deep/c.md.gz").read_bytes()) == b"nine"
    with RowFiles([str(source)]) as files:
        with pytest.raises(SourceError, match="name a folder, with / at its end"):
            files.write(tmp_path / "out.jsonl", keep)
        files.write(tmp_path / "out", {0: Edit()}.get, overwrite=True)
    assert [path.name for path in files_in(tmp_path / "out")] == ["a.txt"]


def test_texts_beside_files_of_rows_are_not_read(tmp_path: Path) -> None:
    rows = {"data/a.jsonl": LINE % 1, "data/none.jsonl": b'{"size": 1}'}
    source = write_files(tmp_path / "set", {"README.md": b"About this set", **rows})
    write_files(tmp_path, {"notes.txt": b"a text that is named"})
    with RowFiles([str(source), str(tmp_path / "notes.txt")]) as files:
        assert [row.page.url for row in files.rows() if isinstance(row, Row)] == ["1", "notes.txt"]
        assert files.other_texts == ["set/README.md"]
    (source / "data" / "none.jsonl").unlink()
    copied(source, to=tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == LINE % 1


@pytest.mark.parametrize("overwrite", [False, True])
def test_files_of_an_earlier_run_do_not_remain(tmp_path: Path, overwrite: bool) -> None:
    sources = [tmp_path / f"p{number}.jsonl" for number in range(3)]
    for number, source in enumerate(sources):
        source.write_bytes(LINE % number)
    copied(*sources, to=tmp_path / "out")
    (tmp_path / "out" / ".hidden").touch()
    if not overwrite:
        for name in ("p0.jsonl", "p1.jsonl"):
            (tmp_path / "out" / name).unlink()
    with (
        RowFiles([str(source) for source in sources[:2]]) as files,
        pytest.raises(WinnowError, match=r"out has files that this run does not write: p2\.jsonl; remove them"),
    ):
        files.check_output(tmp_path / "out", overwrite=overwrite)
    (tmp_path / "out" / "p2.jsonl").unlink()
    copied(*sources[:2], to=tmp_path / "out", decide=drop, overwrite=True)
    assert [(tmp_path / "out" / name).read_bytes() for name in ("p0.jsonl", "p1.jsonl")] == [b"", b""]


def test_what_cannot_be_written_is_refused_before_rows_are_read(tmp_path: Path, lines: Path) -> None:
    (tmp_path / "a.warc").write_bytes(record("https://example.org/", b"text", kind="conversion"))
    assert ids(tmp_path / "a.warc") == ["https://example.org/"]
    for source, to, said in (
        (lines, "none/x.jsonl", r"x\.jsonl cannot be written: there is no folder .*none"),
        (tmp_path / "a.warc", "b.warc", r"web archive.*write ids instead"),
    ):
        with RowFiles([str(source)]) as files, pytest.raises(WinnowError, match=said):
            files.check_output(tmp_path / to)


def test_standard_input_is_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,text\n1,x\n2,y\n")))
    with RowFiles(["-", str(lines)]) as files:
        assert [row.page.url for row in files.rows() if isinstance(row, Row)] == ["1", "2", "0", "1", "2"]
        assert files.write(f"{tmp_path}/out/", lambda number: Edit() if number else None) == 4
    assert (tmp_path / "out" / "stdin").read_text() == "id,text\n2,y\n"
    assert (tmp_path / "out" / "a.jsonl").read_bytes() == lines.read_bytes()


def test_a_source_is_never_overwritten(tmp_path: Path, lines: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(lines)
    for source, to in (lines, lines), (lines, tmp_path / "link.jsonl"), (lines, f"{tmp_path}/"), (tmp_path, tmp_path):
        with pytest.raises(WinnowError, match="is one of the sources"):
            copied(source, to=to, decide=drop, overwrite=True)
    assert lines.read_bytes().count(b"\n") == 3


def test_what_exists_is_overwritten_only_on_request(tmp_path: Path, lines: Path) -> None:
    for to in tmp_path / "b.jsonl", f"{tmp_path}/out/":
        assert copied(lines, to=to) == 3
        with pytest.raises(WinnowError, match="exists; name another, or add --overwrite"):
            copied(lines, to=to)
        copied(lines, to=to, decide=drop, overwrite=True)
    copied(lines, to=tmp_path / "out", overwrite=True)
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
    write_files(tmp_path / "in", dict.fromkeys(("a.txt", "b.txt", "c.txt"), b"x"))
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
    if name == "folder":
        source.mkdir()
        (source / "a.txt").write_text("".join(str(row["text"]) for row in rows))
    else:
        write_rows(source, rows)
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
    copied(lines, to=f"{tmp_path}/{to}")
    old = {path: path.read_bytes() for path in files_in(tmp_path)}
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
    assert copied(lines, to=f"{tmp_path}/{to}", decide=lambda n: Edit() if n else None, overwrite=True) == 2
    assert {*files_in(tmp_path)} == {*old}


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
        written = files_in(out)
        assert [path.read_bytes() for path in written] in ([[], [line]] if stopped else [[line]]), moment
        assert not list(out.rglob(".*")), moment
        if not stopped:
            break
        for path in written:
            path.unlink()
        for path in out.iterdir():
            path.rmdir()
    assert moment > 50
