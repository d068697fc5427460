"""winnow export: merging, filtering and converting record files."""

from __future__ import annotations

import csv
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
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from click import unstyle
from click.testing import Result

from opensearch_winnow import Index, Scheme
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.capture_row import COLUMNS
from opensearch_winnow.mappings.record import Record, from_document
from opensearch_winnow.record_files.reader import scheme_of
from opensearch_winnow.record_files.record_writer import RecordWriter
from opensearch_winnow.record_files.records import read_records

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


SOURCE = ArchiveLocation("/archives/a.warc.gz", 12, 34, "response", 200, "text/html")


@pytest.fixture(params=["file", "records", "opensearch"])
def exported(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The arguments that name a store, or a record file, with three captures; two of them are in an archive."""
    records = [
        record(0, source=SOURCE, title='A "title", with a comma', payload_digest="sha1:A"),
        record(1, title="=1+1"),
        record(2, source=SOURCE._replace(offset=46, record_type="revisit"), cluster=record(0).id),
    ]
    if request.param == "records":
        write(tmp_path / "records.parquet", *records)
        return [str(tmp_path / "records.parquet")]
    name = str(tmp_path / "crawl.winnow")
    if request.param == "opensearch":
        name = f"{request.getfixturevalue('engine').url}/export-{uuid4().hex}"
    with Index.open(name) as index:
        index.add([])
        index.store.write(records)
    return ["--store", name]


def test_captures_become_rows_of_a_table(winnow: Winnow, exported: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    done = winnow("export", *exported, "--to", out)
    assert (done.exit_code, done.stdout) == (0, "")
    with out.open(newline="") as file:
        first, second, third = csv.DictReader(file)
    assert tuple(first) == COLUMNS
    assert (first["title"], first["fetched_at"]) == ('A "title", with a comma', "2024-01-01T12:00:00Z")
    assert [first[name] for name in ArchiveLocation._fields] == list(map(str, SOURCE))
    assert (second["file"], second["status"], third["cluster"]) == ("", "", first["id"])
    assert second["title"] == "'=1+1"  # which a spreadsheet does not compute
    assert winnow("export", *exported, "--to", "-", "--format", "csv").stdout == out.read_text()

    names = "url,text,offset,fetched_at"
    done = winnow("export", *exported, "--to", "-", "--columns", names)
    lines = documents(done.stdout)
    assert lines[0] == {
        "url": record(0).url,
        "text": record(0).text,
        "offset": 12,
        "fetched_at": "2024-01-01T12:00:00Z",
    }
    assert winnow("export", *exported, "--to", tmp_path / "out.parquet", "--columns", names).exit_code == 0
    table = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [each["url"] for each in table] == [each["url"] for each in lines]
    assert [each["fetched_at"] for each in table] == [record(number).fetched_at for number in range(3)]
    done = winnow("export", *exported, "--to", "-", "--columns", "url", "--representatives")
    assert documents(done.stdout) == [{"url": record(0).url}, {"url": record(1).url}]


def test_captures_become_an_index_of_their_archives(winnow: Winnow, exported: list[str], tmp_path: Path) -> None:
    done = winnow("export", *exported, "--to", tmp_path / "index.cdxj.gz", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["records"] == 2
    assert json.loads(done.stdout)["left_out"] == {"not from a web archive": 1}
    assert "1 capture left out: not from a web archive" in done.stderr
    first, second = gzip.decompress((tmp_path / "index.cdxj.gz").read_bytes()).decode().splitlines()
    assert first == (
        'org,example,even)/0 20240101120000 {"url": "https://even.example.org/0", "mime": "text/html", "status": "200",'
        ' "digest": "sha1:A", "length": "34", "offset": "12", "filename": "a.warc.gz"}'
    )
    assert second.startswith("org,example,even)/2 20240101120200 ")
    assert json.loads(second.split(" ", 2)[2])["mime"] == "warc/revisit"
    done = winnow("export", *exported, "--to", tmp_path / "none.cdxj", "--site", "odd.example.org")
    assert (done.exit_code, (tmp_path / "none.cdxj").exists()) == (1, False)


def test_what_an_index_of_archives_cannot_say(winnow: Winnow, tmp_path: Path) -> None:
    """Captures are left out for several reasons, and two archives may have one name."""
    shared = SOURCE._replace(length=0)
    records = [
        record(0, source=SOURCE),
        record(1),
        record(2, source=shared),
        record(3, source=shared),
        record(4, source=SOURCE, fetched_at=None),
        record(5, source=SOURCE._replace(file="/others/a.warc.gz")),
        record(6, source=SOURCE._replace(file="/more/a.warc.gz")),
    ]
    write(tmp_path / "records.parquet", *records)
    done = winnow("export", tmp_path / "records.parquet", "--to", tmp_path / "index.cdxj", "--json")
    reasons = {
        "in a gzip member with other records, so that no offset leads to it": 2,
        "not from a web archive": 1,
        "without a time": 1,
    }
    assert json.loads(done.stdout)["left_out"] == reasons
    *left_out, warning = done.stderr.splitlines()
    assert left_out == [f"{count} capture{'s' * (count > 1)} left out: {reason}" for reason, count in reasons.items()]
    assert "several are called a.warc.gz, such as /others/a.warc.gz: a player may open the wrong one" in warning
    for name in ("rows.csv", "rows.parquet", "rows.jsonl"):
        done = winnow(
            "export", tmp_path / "records.parquet", "--to", tmp_path / name, "--columns", "file,offset,length,mime"
        )
        assert done.exit_code == 0
    with (tmp_path / "rows.csv").open(newline="") as file:
        assert list(csv.reader(file))[3] == [SOURCE.file, "", "", "text/html"]
    expected = {"file": SOURCE.file, "offset": None, "length": None, "mime": "text/html"}
    assert documents((tmp_path / "rows.jsonl").read_text())[2] == expected
    assert pq.read_table(tmp_path / "rows.parquet").to_pylist()[2] == expected
    whole = documents(winnow("export", tmp_path / "records.parquet", "--to", "-").stdout)
    assert from_document(whole[2]).source == shared


def test_captures_of_a_store_are_chosen(winnow: Winnow, tmp_path: Path) -> None:
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add([])
        index.store.write([record(number) for number in range(4)])

    def urls(*options: str, stdin: str = "") -> list[str]:
        done = winnow("export", "--store", tmp_path / "crawl.winnow", "--to", "-", *options, stdin=stdin)
        return [line["url"].rpartition("/")[2] for line in documents(done.stdout)]

    assert urls("--ids", "-", stdin=f"{record(3).id}\n{record(1).id}\n") == ["3", "1"]
    assert urls("--cluster", record(2).id) == ["2"]
    assert urls("--since", "2024-01-01 12:02") == ["2", "3"]
    done = winnow("export", "--store", tmp_path / "crawl.winnow", "--to", "-", "--ids", "-", "--latest", stdin="x")
    assert (done.exit_code, "no other option can choose among them" in done.stderr) == (2, True)


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
        (two[0], "--to", two[0], "--overwrite"): "would overwrite an input",
        (*two, "--to", two[1] / "part-00000.parquet", "--overwrite"): "would overwrite an input",
        (*two, "--to", two[1] / "new.parquet"): "would be read as an input in the next run",
        (*two, "--to", tmp_path / "pages.jsonl"): "pages.jsonl exists; name another, or add --overwrite",
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
        (two[0], "--to", tmp_path / "no" / "folder.jsonl"): "cannot be written: there is no folder",
        (two[0], "--to", tmp_path / "out.xls"): "a name that ends in .parquet, .jsonl, .csv, .cdxj, or the format",
        (two[0], "--to", tmp_path / "out.csv", "--columns", "url,colour"): "'url,colour' is not a list of url, ",
        (two[0], "--to", tmp_path / "out.cdxj", "--columns", "url"): "CDXJ, the fields of which are fixed",
        (two[0], "--to", "-", "--format", "parquet"): "the format parquet needs a file",
        (two[0], "--to", out, "--latest"): "the other options need a store",
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


@pytest.mark.check
def test_a_terminal_gets_no_control_characters(
    on_terminal: Callable[..., tuple[int, str]], two: tuple[Path, Path]
) -> None:
    code, shown = on_terminal("winnow", "export", two[0], "--to", "-")
    assert code == 0
    assert "\x9b" not in shown
    assert "\u202e" not in shown
    assert documents(unstyle(shown.splitlines()[0]))[0]["text"] == record(0).text


@pytest.mark.check
def test_a_closed_pipe_is_quiet(process: Process, two: tuple[Path, Path]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    program = process("--version").args[0]
    with subprocess.Popen([program, "export", two[0], "--to", "-"], stdout=writing, stderr=subprocess.PIPE) as run:
        os.close(writing)
        _, complaint = run.communicate()
    assert (run.returncode, complaint.count(b"Error")) == (141, 0)


@pytest.mark.check
@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl", "out.jsonl.gz", "out.csv"])
def test_a_full_disk_leaves_nothing_behind(process: Process, two: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    program = process("--version").args[0]
    whole = 'trap "" XFSZ; ulimit -f 0; exec "$0" export "$1" --to "$2"'
    done = subprocess.run(["bash", "-c", whole, program, two[0], tmp_path / name], capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == f"Error: {tmp_path / name} cannot be written: File too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b"]
