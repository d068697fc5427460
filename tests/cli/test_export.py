"""winnow export: merging, filtering and converting record files."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click import unstyle
from click.testing import Result

from opensearch_winnow import Scheme
from opensearch_winnow.mappings.record import Record, from_document
from opensearch_winnow.record_files.reader import read_records, scheme_of
from opensearch_winnow.record_files.record_writer import RecordWriter

Winnow = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]
DEFAULT_SCHEME = Scheme()


def record(number: int, **changes: Any) -> Record:
    source = Random(number)
    values: dict[str, Any] = {
        "url": f"https://{'odd' if number % 2 else 'even'}.example.org/{number}",
        "crawl": "first",
        "text": f"Número {number} \x9b31m\u202e",
        "fetched_at": datetime(2024, 1, 1, 12, number, tzinfo=UTC),
        "fingerprints": array("Q", source.randbytes(16)),
        "positions": array("I", [number, number + 1]),
        "shingle_count": 1,
        "sketch": array("Q"),
        "minhash": source.randbytes(8),
        "bands": array("Q", source.randbytes(8)),
    }
    digests = {name: source.randbytes(16).hex() for name in ("content_digest", "text_digest", "shingle_digest")}
    return Record(**values | digests | changes)


def write(path: Path | str, *records: Record, scheme: Scheme = DEFAULT_SCHEME) -> None:
    with RecordWriter(path, scheme) as writer:
        for each in records:
            writer.add(each)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """A record file, and a folder with a newer version of one of its captures."""
    write(tmp_path / "a.parquet", record(0), record(1), record(2))
    write(f"{tmp_path}/b/", record(1, crawl="second"), record(3, crawl="second"))
    return tmp_path / "a.parquet", tmp_path / "b"


MERGED = [record(0), record(2), record(1, crawl="second"), record(3, crawl="second")]


def documents(content: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def test_files_and_folders_become_one_file(winnow: Winnow, two: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    done = winnow("export", *two, "--to", out, "--json")
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert (result["records"], result["bytes"], result["to"]) == (4, out.stat().st_size, str(out))
    assert result["seconds"] >= 0
    assert done.stderr == ""
    assert list(read_records(out, Scheme())) == MERGED
    assert winnow("export", *reversed(two), "--to", tmp_path / "reversed.parquet").exit_code == 0
    assert list(read_records(tmp_path / "reversed.parquet")) == [record(3, crawl="second"), *map(record, range(3))]
    assert [path.name for path in tmp_path.rglob(".*")] == []


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "-"])
def test_files_and_folders_become_json_lines(winnow: Winnow, two: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    out = "-" if name == "-" else tmp_path / name
    done = winnow("export", *two, "--to", out)
    assert done.exit_code == 0
    assert re.fullmatch(r"4 records, [\d,]+ bytes(: .*)?\n", done.stderr)
    if name == "-":
        content = done.stdout_bytes
    else:
        assert done.stdout == ""
        content = Path(out).read_bytes()
    if name.endswith(".gz"):
        content = gzip.decompress(content)
    lines = documents(content)
    assert [from_document(line) for line in lines] == MERGED
    assert {line["scheme"] for line in lines} == {Scheme().id}
    assert "Número".encode() in content


def test_records_can_be_filtered_by_crawl_and_site(winnow: Winnow, two: tuple[Path, Path]) -> None:
    def urls(*options: str) -> list[str]:
        lines = documents(winnow("export", *two, "--to", "-", *options).stdout)
        return [line["url"].rpartition("/")[2] for line in lines]

    assert urls("--crawl", "second") == ["1", "3"]
    assert urls("--crawl", "first") == ["0", "1", "2"]  # the newer version of 1 is of another crawl
    assert urls("--site", "EVEN.example.org") == ["0", "2"]
    assert urls("--site", "odd.example.org", "--crawl", "first") == ["1"]


@pytest.mark.parametrize("out", ["out.parquet", "out.jsonl", "-"])
def test_nothing_found_writes_nothing(winnow: Winnow, two: tuple[Path, Path], tmp_path: Path, out: str) -> None:
    target = out if out == "-" else str(tmp_path / out)
    done = winnow("export", two[0], "--to", target, "--site", "example.com", "--crawl", "first")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "No record of crawl first of site example.com in " in done.stderr
    assert not (tmp_path / out).exists()
    if out != "-":
        with_json = winnow("export", two[0], "--to", target, "--site", "example.com", "--json")
        assert (with_json.exit_code, json.loads(with_json.stdout)["records"]) == (1, 0)


def test_nothing_is_overwritten_without_the_option(winnow: Winnow, two: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text("precious")
    before = two[0].read_bytes()
    for options, complaint in {
        (two[0], "--to", two[0], "--overwrite"): "would overwrite one of the inputs",
        (*two, "--to", two[1] / "part-00000.parquet", "--overwrite"): "would overwrite one of the inputs",
        (*two, "--to", two[1] / "new.parquet"): "would become a part of one of the inputs",
        (*two, "--to", tmp_path / "pages.jsonl"): "pages.jsonl exists; name another file, or add --overwrite",
    }.items():
        done = winnow("export", *options)
        assert done.exit_code == 2
        assert complaint in done.stderr
        assert done.stdout == ""
    assert two[0].read_bytes() == before
    assert (tmp_path / "pages.jsonl").read_text() == "precious"
    assert winnow("export", *two, "--to", tmp_path / "pages.jsonl", "--overwrite").exit_code == 0
    assert len(documents((tmp_path / "pages.jsonl").read_text())) == 4


def test_errors_are_reported(winnow: Winnow, two: tuple[Path, Path], tmp_path: Path) -> None:
    write(tmp_path / "other.parquet", record(5), scheme=Scheme.preset("passages"))
    (tmp_path / "cut.parquet").write_bytes(two[0].read_bytes()[:-100])
    (tmp_path / "folder.jsonl").mkdir()
    ours, theirs = Scheme().id, Scheme.preset("passages").id
    out = tmp_path / "out.parquet"
    for options, complaint in {
        (
            two[0],
            tmp_path / "other.parquet",
            "--to",
            out,
        ): f"other.parquet has records of scheme {theirs}, not {ours}",
        (tmp_path / "cut.parquet", "--to", out): "cut.parquet cannot be read as a record file, or is damaged",
        (tmp_path / "gone.parquet", "--to", out): "there is no record file",
        (two[0], "--to", tmp_path / "folder.jsonl"): "is a folder; name a file",
        (two[0], "--to", tmp_path / "no" / "folder.jsonl"): "cannot be written: No such file or directory",
        (two[0], "--to", tmp_path / "out.csv"): ".parquet or .jsonl or .jsonl.gz",
        (two[0], "--to", "-", "--json"): "both want stdout",
        ("--to", out): "Name record files, or --store crawl.winnow",
        (two[0],): "Missing option '--to'",
    }.items():
        done = winnow("export", *options)
        assert (done.exit_code, done.stdout) == (2, "")
        assert complaint in re.sub(r"\s+", " ", done.stderr)
    assert ours != theirs
    assert not out.exists()


def test_a_secret_key_is_not_needed_to_merge(winnow: Winnow, tmp_path: Path) -> None:
    scheme = Scheme(key="secret")
    write(tmp_path / "a.parquet", record(1), scheme=scheme)
    write(tmp_path / "b.parquet", record(2), scheme=scheme)
    assert (
        winnow("export", tmp_path / "a.parquet", tmp_path / "b.parquet", "--to", tmp_path / "c.parquet").exit_code == 0
    )
    assert scheme_of(tmp_path / "c.parquet").scheme("secret") == scheme


def test_a_terminal_gets_no_control_characters(
    on_terminal: Callable[..., tuple[int, str]], two: tuple[Path, Path]
) -> None:
    code, shown = on_terminal("winnow", "export", two[0], "--to", "-")
    assert code == 0
    assert "\x9b" not in shown
    assert "\u202e" not in shown
    assert documents(unstyle(shown.splitlines()[0]))[0]["text"] == record(0).text


def test_a_closed_pipe_is_quiet(process: Process, two: tuple[Path, Path]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    program = process("--version").args[0]
    with subprocess.Popen([program, "export", two[0], "--to", "-"], stdout=writing, stderr=subprocess.PIPE) as run:
        os.close(writing)
        _, complaint = run.communicate()
    assert (run.returncode, complaint.count(b"Error")) == (141, 0)


@pytest.mark.check
@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl", "out.jsonl.gz"])
def test_a_full_disk_leaves_nothing_behind(process: Process, two: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    program = process("--version").args[0]
    whole = 'trap "" XFSZ; ulimit -f 0; exec "$0" export "$1" --to "$2"'
    done = subprocess.run(["bash", "-c", whole, program, two[0], tmp_path / name], capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == f"Error: {tmp_path / name} cannot be written: File too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b"]
