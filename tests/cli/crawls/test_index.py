"""winnow index: sources of every kind, what becomes of their pages, and exit codes."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Index
from opensearch_winnow.cli.crawls.index_summary import first_words
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.record_files.records import read_records
from tests.cli.conftest import OnTerminal, Process, Winnow, json_lines
from tests.cli.crawls.conftest import URL, counted, prose
from tests.ingest.sources.test_zip_file import packed
from tests.operations.crawls.test_extract import DAY, archive
from tests.operations.sets.test_pairs import COPY, OTHER, SUM


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A folder such as wget leaves behind."""
    folder = tmp_path / "mirror"
    (folder / "sub").mkdir(parents=True)
    (folder / "index.html").write_text(f"<title>Home</title><p>{prose(1)}")
    for name in ("a", "copy"):
        (folder / "sub" / f"{name}.html").write_text(f"<title>A</title><p>{prose(2)}")
    (folder / "notes.txt").write_text(prose(3))
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    return folder


def test_a_run_that_skips_most_files_says_so_first() -> None:
    programs = Report(indexed=6, files=60, skipped_files=Counter({"type text/x-python": 52, "type application/pdf": 2}))
    skipped, as_programs, as_texts = first_words(programs)
    assert skipped == "54 of 60 files were skipped: type text/x-python 52, type application/pdf 2"
    assert "--preset programs" in as_programs
    assert as_texts.startswith("PDF")
    site = Report(indexed=6, files=60, skipped_files=Counter({"type image/png": 50, "type text/css": 4}))
    archive = Report(indexed=6, skipped=Counter({"type text/javascript": 99}))
    assert not [*first_words(site), *first_words(archive), *first_words(Report(preset="pages"))]
    (line,) = first_words(Report(indexed=3, files=3, preset="programs"))
    assert "the new store has the preset programs" in line


@pytest.mark.check
def test_earlier_years_may_be_zipped_and_need_no_preset(process: Process, tmp_path: Path) -> None:
    """The programs of a class that Moodle has packed, each as its student has packed it."""
    year = packed({"alice/work.zip": packed({"main.py": COPY.encode()}), "bob/main.py": OTHER.encode()})
    (tmp_path / "2025.zip").write_bytes(year)
    for student, program in (("tom", SUM), ("zoe", OTHER.replace("name", "title"))):
        (tmp_path / "2026" / student).mkdir(parents=True)
        (tmp_path / "2026" / student / "main.py").write_text(program)
    done = process("index", "2025.zip", "--store", "old.winnow", "--json")
    assert done.stderr.decode().startswith("The files are programs: the new store has the preset programs")
    assert counted(done) == (2, 0, 0, 0)
    found = process("pairs", "2026", "--store", "old.winnow", "--json")
    assert found.returncode == 0, found.stderr
    pairs = {(pair["a"], pair["b"]) for pair in json.loads(found.stdout)["pairs"]}
    assert pairs == {("tom", "2025.zip/alice"), ("zoe", "2025.zip/bob")}
    again = process("index", "2026", "--store", "old.winnow")
    assert (again.returncode, again.stderr) == (0, b"")
    (tmp_path / "2026" / "notes.txt").write_text(prose(1))
    loud = process("index", "2026", "--store", "texts.winnow", "--preset", "pages")
    assert b"2 of 3 files were skipped: type text/x-python 2\n" in loud.stderr
    refused = process("pairs", "2026", "--store", "texts.winnow")
    assert (refused.returncode, refused.stdout, b"is a store of texts" in refused.stderr) == (2, b"", True)


def test_a_run_that_skips_everything_is_exit_code_1(process: Process, tmp_path: Path) -> None:
    programs = {"tom.zip": packed({"a.py": SUM.encode()}), "zoe.zip": packed({"a.py": OTHER.encode()})}
    (tmp_path / "2025.zip").write_bytes(packed(programs))
    done = process("index", "2025.zip", "--store", "old.winnow", "--json")  # which needs no preset
    assert (done.returncode, counted(done)) == (0, (2, 0, 0, 0))
    done = process("index", "2025.zip", "--store", "texts.winnow", "--preset", "pages")
    assert done.returncode == 1
    assert done.stderr.startswith(b"2 of 2 files were skipped: type text/x-python 2\n")
    (tmp_path / "page.txt").write_text(prose(1))
    for _ in range(2):  # indexed, then unchanged
        assert process("index", "2025.zip", "page.txt", "--store", "texts.winnow").returncode == 0


def test_a_zip_file_that_was_cut_off_is_named_as_one(process: Process, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    for name, cut in (("alice", None), ("bob", -30)):
        (tmp_path / "class" / f"{name}.zip").write_bytes(packed({"a.txt": prose(1).encode()})[:cut])
    done = process("index", "class", "--store", "s.winnow", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["indexed"], report["damaged"]["places"]) == (1, 1, 0)
    assert report["reasons"]["failed"] == {"a zip file that cannot be unpacked": 1}
    failed = json.loads((tmp_path / "s.winnow.failed.jsonl").read_text())
    assert failed["source"] == str(tmp_path / "class" / "bob.zip")


def test_a_folder_is_indexed(process: Process, mirror: Path, tmp_path: Path) -> None:
    def titles() -> list[tuple[str, str | None]]:
        return [(each.url.removeprefix(URL), each.title) for each in read_records(tmp_path / "r.parquet")]

    index = ("index", mirror, "--to", "r.parquet", "--base-url", "http://example.org", "--json")
    done = process(*index)
    answer = json.loads(done.stdout)
    assert (done.returncode, counted(done)) == (0, (4, 0, 1, 0))
    assert (answer["duplicates"], answer["reasons"]["skipped"]) == ({"content": 1}, {"type image/png": 1})
    assert titles() == [("index.html", "Home"), ("notes.txt", None), ("sub/a.html", "A"), ("sub/copy.html", "A")]
    assert list(read_records(tmp_path / "r.parquet"))[3].duplicate_of == f"{URL}sub/a.html"
    (mirror / "index.html").write_text(f"<title>New home</title><p>{prose(9)}")
    assert counted(process(*index)) == (1, 3, 1, 0)
    assert ("index.html", "New home") in titles()


@pytest.mark.check
def test_links_out_of_a_folder_are_followed_only_when_asked_for(process: Process, mirror: Path) -> None:
    (mirror.parent / "secret.txt").write_text(prose(7))
    (mirror / "link.txt").symlink_to(mirror.parent / "secret.txt")
    done = process("index", mirror, "--store", "a.winnow", "--json")
    answer = json.loads(done.stdout)
    assert (answer["indexed"], answer["reasons"]["skipped"]["symbolic link"]) == (4, 1)
    assert b", and 1 was skipped. --follow-symlinks follows them.\n" in done.stderr
    done = process("index", mirror, "--store", "a.winnow", "--json", "--follow-symlinks")
    assert (json.loads(done.stdout)["indexed"], b"ymbolic" in done.stderr) == (1, False)


@pytest.mark.check
@pytest.mark.parametrize("to", ["records.parquet", "records/"])
def test_files_written_by_the_command_are_not_sources(process: Process, mirror: Path, to: str) -> None:
    (mirror.parent / "bad.jsonl").write_text("not JSON\n")
    assert counted(process("index", ".", "--to", to, "--json")) == (4, 0, 1, 1)
    assert counted(process("index", ".", "--to", to, "--json")) == (0, 4, 1, 1)


@pytest.mark.check
def test_several_sources_a_pattern_and_standard_input(process: Process, mirror: Path, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "one.jsonl.gz", "wt") as lines:
        lines.write(json.dumps({"url": f"{URL}j", "html": f"<p>{prose(5)}"}) + "\n")
    piped = json.dumps({"url": f"{URL}s", "text": prose(6)}).encode()
    done = process("index", mirror, "*.jsonl.gz", "-", "--to", "r.parquet", "--json", stdin=piped)
    assert counted(done) == (6, 0, 1, 0)
    assert {f"{URL}j", f"{URL}s"} < {record.url for record in read_records(tmp_path / "r.parquet")}


@pytest.mark.check
def test_a_terminal_gets_a_table(on_terminal: OnTerminal, mirror: Path) -> None:
    code, shown = on_terminal("winnow", "index", mirror, "--to", "records.parquet", NO_COLOR="1")
    assert code == 0
    assert "indexed    4  equal to an earlier page: content 1\n" in shown
    assert "skipped    1  type image/png 1\n" in shown
    assert "pages      5\n" in shown
    assert "→ winnow export records.parquet --to records.jsonl" in shown


@pytest.mark.check
def test_failed_pages_are_kept_and_can_be_indexed_again(process: Process, tmp_path: Path) -> None:
    failed_pages = tmp_path / "r.parquet.failed.jsonl"
    whole = gzip.compress(f"<p>{prose(2)}".encode())
    mended, body = (b64encode(each).decode() for each in (whole, whole[:-20]))
    good = {"url": f"{URL}good", "text": prose(1)}
    broken = {"url": f"{URL}broken", "html_base64": body, "codings": ["gzip"]}
    lines = json_lines(tmp_path / "pages.jsonl", good, broken)
    lines.write_text(f"{lines.read_text()}not JSON\n")
    first = process("index", lines, "--to", "r.parquet", "--json")
    assert (first.returncode, counted(first)) == (1, (1, 0, 0, 2))
    assert b"The failed pages are in r.parquet.failed.jsonl" in first.stderr
    failed_pages.write_text(failed_pages.read_text().replace(body, mended))
    assert counted(process("index", failed_pages, "--to", "r.parquet", "--json")) == (1, 0, 0, 1)
    assert [record.url for record in read_records(tmp_path / "r.parquet")] == [good["url"], broken["url"]]
    assert json.loads(failed_pages.read_text())["reason"] == "not JSON"


@pytest.mark.check
def test_a_page_that_is_too_large_can_be_read_with_a_larger_limit(process: Process, tmp_path: Path) -> None:
    lines = json_lines(tmp_path / "pages.jsonl", {"url": f"{URL}large", "text": prose(2, 2000)})
    first = process("index", lines, "--to", "r.parquet", "--max-page-size", "5k", "--json")
    assert list(json.loads(first.stdout)["reasons"]["failed"]) == ["larger than 0.005 MB"]
    assert b"--max-page-size" in first.stderr
    assert counted(process("index", lines, "--to", "r.parquet", "--json")) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("nowhere.warc --to r.parquet", "nowhere.warc"),
        ("mirror --to r.parquet --extractor magic", "there is no extractor 'magic'"),
        ("mirror --to nowhere/r.parquet", "nowhere"),
        ("mirror --to mirror/notes.txt", "notes.txt"),
        ("mirror --to r.parquet --max-page-size large", "not a size"),
        ("http://example.org/ --to r.parquet", "fetch it first"),
        ("mirror --store nowhere/a.winnow", "Error: nowhere/a.winnow cannot be created"),
        ("mirror --store=", "add --store crawl.winnow"),
        ("mirror --store mirror/notes.txt", "notes.txt is another kind of file, not a store"),
        ("mirror --store .", "is a folder"),
        ("mirror --store a.winnow --failed nowhere/f.jsonl", "nowhere/f.jsonl"),
        ("mirror --store http://127.0.0.1:9/pages", "127.0.0.1:9"),
        ("mirror --store a.winnow --to a.parquet", "use only one of them"),
        ("mirror", "add --store crawl.winnow, or --to records.parquet"),
        ("mirror --to a.winnow", "--store a.winnow"),
        ("mirror --store a.winnow --noise 9 --guarantee 3", "guarantee"),
    ],
)
def test_errors_leave_no_files(winnow: Winnow, mirror: Path, here: Path, arguments: str, complaint: str) -> None:
    assert complaint in winnow.refused("index", *arguments.split())
    assert list(here.iterdir()) == [mirror]


@pytest.mark.check
def test_code_is_compared_as_code(process: Process, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text(SUM)
    (project / "b.py").write_text(f"# my own work\n{COPY}")
    done = process("index", project, "--to", "r.parquet", "--preset", "code", "--json")
    assert json.loads(done.stdout)["duplicates"] == {"text": 1}, done.stderr


@pytest.mark.check
def test_any_rows_are_indexed(process: Process, tmp_path: Path) -> None:
    json_lines(tmp_path / "rows.jsonl", *({"id": number, "text": prose(number)} for number in range(300)))
    assert process("index", "rows.jsonl", "--store", "rows.winnow", "--json").returncode == 0
    done = process("similar", "7", "--store", "rows.winnow", "--json")
    assert json.loads(done.stdout)["matches"] == []
    (tmp_path / "stories.csv").write_text(f"nr;story;head\n7;{prose(7)};A\n;{prose(8)};B\n")
    named = ("--id-field", "nr", "--text-field", "story", "--title-field", "head")
    assert process("index", "stories.csv", "--to", "stories.parquet", *named).returncode == 0
    location = f"{(tmp_path / 'stories.csv').as_uri()}#row=1"
    records = read_records(tmp_path / "stories.parquet")
    assert sorted((record.url, record.title) for record in records) == [("7", "A"), (location, "B")]


def test_rows_without_the_needed_field_stop_the_run_with_one_sentence(process: Process, tmp_path: Path) -> None:
    rows = json_lines(tmp_path / "rows.jsonl", *({"nr": number, "story": "x"} for number in range(20_000)))
    done = process("index", "rows.jsonl", "--store", "rows.winnow")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert done.stderr.startswith(b"Error: rows.jsonl has no field with a text: its fields are nr, story; ")
    assert list(tmp_path.iterdir()) == [rows]


def test_a_second_crawl_without_dates_replaces_the_first_and_says_so(winnow: Winnow, tmp_path: Path) -> None:
    page, store = tmp_path / "page.txt", tmp_path / "crawl.winnow"
    notes = []
    for crawl, seed in (("spring", 1), ("autumn", 2)):
        page.write_text(prose(seed, 60))
        done = winnow("index", page, "--store", store, "--crawl", crawl, "--base-url", "https://a.example/", "--quiet")
        notes.append(done.stderr)
    assert notes[0] == ""
    assert notes[1].startswith("1 page without a time replaced what was stored for the same URL. ")


def test_a_date_in_the_future_is_refused(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(prose(1, 60))
    store = tmp_path / "crawl.winnow"
    done = winnow("index", tmp_path / "page.txt", "--store", store, "--date", "2099-01", "--quiet")
    assert (done.exit_code, done.stdout, store.exists()) == (2, "", False)
    assert "cannot be from 2099-01-01" in done.stderr


@pytest.mark.check
def test_the_date_of_a_run_is_that_of_pages_without_a_time(winnow: Winnow, tmp_path: Path) -> None:
    page, store = tmp_path / "mirror" / "page.txt", tmp_path / "crawl.winnow"
    page.parent.mkdir()
    archive(tmp_path / "in.warc.gz")
    for month, seed in (("2024-03", 1), ("2024-09", 2)):
        page.write_text(prose(seed, 60))
        for outcome in ("indexed", "unchanged"):  # a second run finds the same captures
            sources = (page.parent, tmp_path / "in.warc.gz")
            done = winnow(
                *("index", *sources, "--date", month, "--base-url", "https://a.example/", "--store", store),
                *("--crawl", month, "--failed", tmp_path / "failed.jsonl", "--quiet"),
            )
            assert done.exit_code == 0
            assert f"{outcome}\t\t" in done.stdout
    with Index.open(store) as index:
        times = [moment.card.fetched_at for moment in index.history("https://a.example/page.txt")]
        assert times == [datetime(2024, month, 1, tzinfo=UTC) for month in (3, 9)]
        assert index.page("http://a.example/").fetched_at == DAY  # which the archive knows
        assert index.changes("2024-03", "2024-09").counts["changed"] == 1
