"""winnow export: merging, filtering and converting record files."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from click import unstyle
from hypothesis import HealthCheck, given, settings, strategies as st

from opensearch_winnow import Index, Scheme
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.capture_row import COLUMNS
from opensearch_winnow.mappings.record import Record, from_document
from opensearch_winnow.operations.crawls import export_rows
from opensearch_winnow.record_files.reader import scheme_of
from opensearch_winnow.record_files.record_writer import RecordFileWriter
from opensearch_winnow.record_files.records import read_records
from tests.cli.conftest import WINNOW, OnTerminal, Winnow

Make = Callable[..., Record]
Two = tuple[Path, Path]
DEFAULT_SCHEME = Scheme()
SOURCE = ArchiveLocation("/archives/a.warc.gz", 12, 34, "response", 200, "text/html")


@pytest.fixture
def record(record: Make) -> Make:
    """A function that makes the record of a number, on a site for odd or for even ones."""

    def make(number: int, **changes: Any) -> Record:
        url = f"https://{('even', 'odd')[number % 2]}.example.org/{number}"
        text = f"Número {number} \x9b31m\u202e"
        return record(number, **{"url": url, "crawl": "first", "title": None, "text": text} | changes)

    return make


def write(path: Path | str, *records: Record, scheme: Scheme = DEFAULT_SCHEME) -> None:
    with RecordFileWriter(path, scheme) as writer:
        for each in records:
            writer.add(each)


@pytest.fixture
def two(tmp_path: Path, record: Make) -> Two:
    """A record file, and a folder with a newer version of one of its captures."""
    write(tmp_path / "a.parquet", *map(record, range(3)))
    write(f"{tmp_path}/b/", record(1, crawl="second"), record(3, crawl="second"))
    return tmp_path / "a.parquet", tmp_path / "b"


@pytest.fixture
def merged(record: Make) -> list[Record]:
    return [record(0), record(2), record(1, crawl="second"), record(3, crawl="second")]


def documents(content: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def test_files_and_folders_become_one_file(
    winnow: Winnow, two: Two, tmp_path: Path, record: Make, merged: list[Record]
) -> None:
    out, other = tmp_path / "out.parquet", tmp_path / "reversed.parquet"
    done = winnow("export", *two, "--to", out, "--json")
    result = json.loads(done.stdout)
    assert (done.exit_code, done.stderr, result["seconds"] >= 0) == (0, "", True)
    assert (result["records"], result["bytes"], result["to"]) == (4, out.stat().st_size, str(out))
    assert list(read_records(out, Scheme())) == merged
    assert winnow("export", *reversed(two), "--to", other).exit_code == 0
    assert list(read_records(other)) == [record(3, crawl="second"), *map(record, range(3))]
    assert list(tmp_path.rglob(".*")) == []


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "-"])
def test_files_and_folders_become_json_lines(
    winnow: Winnow, two: Two, tmp_path: Path, merged: list[Record], name: str
) -> None:
    out = tmp_path / name
    done = winnow("export", *two, "--to", "-" if name == "-" else out)
    assert (done.exit_code, done.stderr[:10]) == (0, "4 records,")
    assert (done.stdout == "") == (name != "-")
    content = done.stdout_bytes if name == "-" else out.read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    lines = documents(content)
    assert [from_document(line) for line in lines] == merged
    assert {line["scheme"] for line in lines} == {Scheme().id}
    assert "Número".encode() in content


def urls(winnow: Winnow, *options: str | Path, stdin: str = "") -> list[str]:
    done = winnow("export", "--to", "-", *options, stdin=stdin)
    return [line["url"].rpartition("/")[2] for line in documents(done.stdout)]


def test_records_can_be_filtered_by_crawl_and_site(winnow: Winnow, two: Two) -> None:
    assert urls(winnow, *two, "--crawl", "second") == ["1", "3"]
    assert urls(winnow, *two, "--crawl", "first") == ["0", "1", "2"]  # the newer version of 1 is of another crawl
    assert urls(winnow, *two, "--site", "EVEN.example.org") == ["0", "2"]
    assert urls(winnow, *two, "--site", "odd.example.org", "--crawl", "first") == ["1"]


@pytest.fixture(params=["file", "records", "opensearch"])
def exported(request: pytest.FixtureRequest, tmp_path: Path, record: Make) -> list[str]:
    """The arguments that name a store, or a record file, with three captures; two of them are in an archive."""
    revisit = SOURCE._replace(offset=46, record_type="revisit")
    records = [
        record(0, source=SOURCE, title='A "title", with a comma', payload_digest="sha1:A"),
        record(1, title="=1+1"),
        record(2, source=revisit, cluster=record(0).id),
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


def test_captures_become_rows_of_a_table(winnow: Winnow, exported: list[str], tmp_path: Path, record: Make) -> None:
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

    columns = ("--columns", "url,text,offset,fetched_at")
    lines = documents(winnow("export", *exported, "--to", "-", *columns).stdout)
    one = record(0)
    assert lines[0] == {"url": one.url, "text": one.text, "offset": 12, "fetched_at": "2024-01-01T12:00:00Z"}
    assert winnow("export", *exported, "--to", tmp_path / "out.parquet", *columns).exit_code == 0
    table = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [each["url"] for each in table] == [each["url"] for each in lines]
    assert [each["fetched_at"] for each in table] == [record(number).fetched_at for number in range(3)]
    done = winnow("export", *exported, "--to", "-", "--columns", "url", "--representatives")
    assert documents(done.stdout) == [{"url": one.url}, {"url": record(1).url}]


def test_captures_become_an_index_of_their_archives(winnow: Winnow, exported: list[str], tmp_path: Path) -> None:
    done = winnow("export", *exported, "--to", tmp_path / "index.cdxj.gz", "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["records"], answer["left_out"]) == (0, 2, {"not from a web archive": 1})
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


def test_what_an_index_of_archives_cannot_say(winnow: Winnow, tmp_path: Path, record: Make) -> None:
    """Captures are left out for several reasons, and two archives may have one name."""
    shared, records = SOURCE._replace(length=0), tmp_path / "records.parquet"
    sources = [SOURCE, None, shared, shared, SOURCE, *(SOURCE._replace(file=f"/{n}/a.warc.gz") for n in "ab")]
    times = {4: {"fetched_at": None}}
    write(records, *(record(n, source=source, **times.get(n, {})) for n, source in enumerate(sources)))
    done = winnow("export", records, "--to", tmp_path / "index.cdxj", "--json")
    reasons = {
        "in a gzip member with other records, so that no offset leads to it": 2,
        "not from a web archive": 1,
        "without a time": 1,
    }
    assert json.loads(done.stdout)["left_out"] == reasons
    *left_out, warning = done.stderr.splitlines()
    assert left_out == [f"{count} capture{'s' * (count > 1)} left out: {reason}" for reason, count in reasons.items()]
    assert "several are called a.warc.gz, such as /a/a.warc.gz" in warning
    tables = [tmp_path / f"rows.{ending}" for ending in ("csv", "parquet", "jsonl")]
    for table in tables:
        assert winnow("export", records, "--to", table, "--columns", "file,offset,length,mime").exit_code == 0
    with tables[0].open(newline="") as file:
        assert list(csv.reader(file))[3] == [SOURCE.file, "", "", "text/html"]
    expected = {"file": SOURCE.file, "offset": None, "length": None, "mime": "text/html"}
    assert pq.read_table(tables[1]).to_pylist()[2] == documents(tables[2].read_text())[2] == expected
    assert from_document(documents(winnow("export", records, "--to", "-").stdout)[2]).source == shared


def test_captures_of_a_store_are_chosen(winnow: Winnow, tmp_path: Path, record: Make) -> None:
    store = ("--store", tmp_path / "crawl.winnow")
    with Index.open(store[1]) as index:
        index.add([])
        index.store.write([record(number) for number in range(4)])
    assert urls(winnow, *store, "--ids", "-", stdin=f"{record(3).id}\n{record(1).id}\n") == ["3", "1"]
    assert urls(winnow, *store, "--cluster", record(2).id) == ["2"]
    assert urls(winnow, *store, "--since", "2024-01-01 12:02") == ["2", "3"]
    assert urls(winnow, *store, "--crawl", "first", "--site", "Odd.example.org") == ["1", "3"]
    refused = winnow.refused("export", *store, "--to", "-", "--ids", "-", "--latest", stdin="x")
    assert "no other option can choose among them" in refused


@pytest.mark.parametrize("out", ["out.parquet", "out.jsonl", "-"])
def test_nothing_found_writes_nothing(winnow: Winnow, two: Two, tmp_path: Path, out: str) -> None:
    export = ("export", two[0], "--to", out if out == "-" else tmp_path / out, "--site", "example.com")
    done = winnow(*export, "--crawl", "first")
    assert (done.exit_code, done.stdout, (tmp_path / out).exists()) == (1, "", False)
    assert "No record of crawl first of site example.com in " in done.stderr
    assert out == "-" or winnow.json(*export, code=1)["records"] == 0


def test_nothing_is_overwritten_without_the_option(winnow: Winnow, two: Two, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text("precious")
    before = two[0].read_bytes()
    for options, complaint in {
        (two[0], "--to", two[0], "--overwrite"): "would overwrite an input",
        (*two, "--to", two[1] / "part-00000.parquet", "--overwrite"): "would overwrite an input",
        (*two, "--to", two[1] / "new.parquet"): "would be read as an input in the next run",
        (*two, "--to", tmp_path / "pages.jsonl"): "pages.jsonl exists; name another, or add --overwrite",
    }.items():
        assert complaint in winnow.refused("export", *options)
    assert (two[0].read_bytes(), (tmp_path / "pages.jsonl").read_text()) == (before, "precious")
    assert winnow("export", *two, "--to", tmp_path / "pages.jsonl", "--overwrite").exit_code == 0
    assert len(documents((tmp_path / "pages.jsonl").read_text())) == 4


def test_errors_are_reported(winnow: Winnow, two: Two, tmp_path: Path, record: Make) -> None:
    other, cut, folder, out = (tmp_path / name for name in ("other.parquet", "cut.parquet", "f.jsonl", "out.parquet"))
    theirs = Scheme.preset("passages")
    write(other, record(5), scheme=theirs)
    cut.write_bytes(two[0].read_bytes()[:-100])
    folder.mkdir()
    for options, complaint in {
        (two[0], other, "--to", out): f"other.parquet has records of scheme {theirs.id}, not {Scheme().id}",
        (cut, "--to", out): "cut.parquet cannot be read as a record file, or is damaged",
        (tmp_path / "gone.parquet", "--to", out): "there is no record file",
        (two[0], "--to", folder): "is a folder; name a file",
        (two[0], "--to", tmp_path / "no" / "folder.jsonl"): "cannot be written: there is no folder",
        (two[0], "--to", tmp_path / "out.xls"): "name a file that ends in .parquet, .jsonl, .csv, .cdxj",
        (two[0], "--to", tmp_path / "out.csv", "--columns", "url,colour"): "'url,colour' is not a list of url, ",
        (two[0], "--to", tmp_path / "out.cdxj", "--columns", "url"): "CDXJ, the fields of which are fixed",
        (two[0], "--to", "-", "--format", "parquet"): "the format parquet needs a file",
        (two[0], "--to", out, "--latest"): "the other options need a store",
        (two[0], "--to", "-", "--json"): "both want stdout",
        ("--to", out): "either record files, or --store crawl.winnow",
        (two[0],): "Missing option '--to'",
    }.items():
        assert complaint in winnow.refused("export", *options)
    assert not out.exists()


def test_a_secret_key_is_not_needed_to_merge(winnow: Winnow, tmp_path: Path, record: Make) -> None:
    a, b, c = (tmp_path / f"{name}.parquet" for name in "abc")
    scheme = Scheme(key="secret")
    write(a, record(1), scheme=scheme)
    write(b, record(2), scheme=scheme)
    assert winnow("export", a, b, "--to", c).exit_code == 0
    assert scheme_of(c).scheme("secret") == scheme


@pytest.mark.check
def test_a_terminal_gets_no_control_characters(on_terminal: OnTerminal, two: Two, record: Make) -> None:
    code, shown = on_terminal("winnow", "export", two[0], "--to", "-")
    assert (code, "\x9b" in shown, "\u202e" in shown) == (0, False, False)
    assert documents(unstyle(shown.splitlines()[0]))[0]["text"] == record(0).text


@pytest.mark.check
@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl", "out.jsonl.gz", "out.csv"])
def test_a_full_disk_leaves_nothing_behind(two: Two, tmp_path: Path, name: str) -> None:
    whole = 'trap "" XFSZ; ulimit -f 0; exec "$0" export "$1" --to "$2"'
    done = subprocess.run(["bash", "-c", whole, WINNOW, two[0], tmp_path / name], capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (
        2,
        f"Error: {tmp_path / name} cannot be written: File too large\n",
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text("ab\u00e9\U0001f33e", max_size=3).map(lambda text: f"{text}\n"), max_size=20), st.integers(1, 7)
)
def test_lines_are_sorted_whatever_fits_into_memory(
    monkeypatch: pytest.MonkeyPatch, lines: list[str], in_memory: int
) -> None:
    monkeypatch.setattr(export_rows, "LINES_IN_MEMORY", in_memory)
    assert list(export_rows.sorted_lines(lines)) == sorted(lines)
