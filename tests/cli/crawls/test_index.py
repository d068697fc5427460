from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from opensearch_winnow.cli.crawls.index_summary import first_words
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.record_files.records import read_records
from tests.ingest.sources.test_zip_file import packed
from tests.operations.sets.test_pairs import COPY, OTHER, SUM

Process = Callable[..., subprocess.CompletedProcess[bytes]]


def prose(seed: int, words: int = 80) -> str:
    source = Random(seed)
    return " ".join("".join(source.choices("abcdefghij", k=source.randint(2, 9))) for _ in range(words))


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A folder such as wget leaves behind."""
    folder = tmp_path / "mirror"
    (folder / "sub").mkdir(parents=True)
    (folder / "index.html").write_text(f"<title>Home</title><p>{prose(1)}")
    (folder / "sub" / "a.html").write_text(f"<title>A</title><p>{prose(2)}")
    (folder / "sub" / "copy.html").write_text(f"<title>A</title><p>{prose(2)}")
    (folder / "notes.txt").write_text(prose(3))
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    return folder


def urls(path: Path) -> list[str]:
    return [record.url for record in read_records(path)]


def test_a_run_that_skips_most_files_says_so_first() -> None:
    programs = Report(indexed=6, files=60, skipped_files=Counter({"type text/x-python": 52, "type application/pdf": 2}))
    assert list(first_words(programs)) == [
        "54 of 60 files were skipped: type text/x-python 52, type application/pdf 2",
        "To read programs, index them into a new store with --preset programs",
        "PDF and office files are not read: convert them to text or HTML first",
    ]
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
    assert json.loads(done.stdout)["indexed"] == 2
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
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"texts.winnow is a store of texts, and the documents are programs" in refused.stderr


def test_a_class_of_zip_files_needs_no_preset(process: Process, tmp_path: Path) -> None:
    programs = {"tom.zip": packed({"a.py": SUM.encode()}), "zoe.zip": packed({"a.py": OTHER.encode()})}
    (tmp_path / "2025.zip").write_bytes(packed(programs))
    done = process("index", "2025.zip", "--store", "old.winnow", "--json")
    assert (done.returncode, json.loads(done.stdout)["indexed"]) == (0, 2)


def test_a_run_that_skips_everything_is_exit_code_1(process: Process, tmp_path: Path) -> None:
    (tmp_path / "2025.zip").write_bytes(packed({"a.py": SUM.encode(), "b.py": OTHER.encode()}))
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
    (failed,) = map(json.loads, (tmp_path / "s.winnow.failed.jsonl").read_text().splitlines())
    assert failed["source"] == str(tmp_path / "class" / "bob.zip")


def test_a_folder_is_indexed(process: Process, mirror: Path, tmp_path: Path) -> None:
    done = process("index", mirror, "--to", "records.parquet", "--base-url", "http://example.org", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    counted = [answer[name] for name in ("pages", "indexed", "unchanged", "skipped", "failed")]
    assert counted == [5, 4, 0, 1, 0]
    assert answer["duplicates"] == {"content": 1}
    assert answer["reasons"]["skipped"] == {"type image/png": 1}
    records = list(read_records(tmp_path / "records.parquet"))
    assert [record.url.removeprefix("http://example.org/") for record in records] == [
        "index.html",
        "notes.txt",
        "sub/a.html",
        "sub/copy.html",
    ]
    assert records[3].duplicate_of == "http://example.org/sub/a.html"
    assert [record.title for record in records] == ["Home", None, "A", "A"]


@pytest.mark.check
def test_links_out_of_a_folder_are_followed_only_when_asked_for(process: Process, mirror: Path) -> None:
    (mirror.parent / "secret.txt").write_text(prose(7))
    (mirror / "link.txt").symlink_to(mirror.parent / "secret.txt")
    done = process("index", mirror, "--store", "a.winnow", "--json")
    answer = json.loads(done.stdout)
    assert (answer["indexed"], answer["reasons"]["skipped"]["symbolic link"]) == (4, 1)
    said = b"Symbolic links in a folder are not followed, and 1 was skipped. --follow-symlinks follows them.\n"
    assert said in done.stderr
    done = process("index", mirror, "--store", "a.winnow", "--json", "--follow-symlinks")
    assert json.loads(done.stdout)["indexed"] == 1
    assert b"ymbolic" not in done.stderr


@pytest.mark.check
def test_a_second_run_indexes_only_changed_files(process: Process, mirror: Path, tmp_path: Path) -> None:
    process("index", mirror, "--to", "records.parquet")
    (mirror / "index.html").write_text(f"<title>New home</title><p>{prose(9)}")
    answer = json.loads(process("index", mirror, "--to", "records.parquet", "--json").stdout)
    assert (answer["indexed"], answer["unchanged"]) == (1, 3)
    assert sorted(str(record.title) for record in read_records(tmp_path / "records.parquet")) == [
        "A",
        "A",
        "New home",
        "None",
    ]


@pytest.mark.check
@pytest.mark.parametrize("to", ["records.parquet", "records/"])
def test_files_written_by_the_command_are_not_sources(process: Process, mirror: Path, tmp_path: Path, to: str) -> None:
    (tmp_path / "bad.jsonl").write_text("not JSON\n")
    first = json.loads(process("index", ".", "--to", to, "--json").stdout)
    again = json.loads(process("index", ".", "--to", to, "--json").stdout)
    assert (first["indexed"], first["failed"]) == (4, 1)
    assert (again["unchanged"], again["failed"], again["pages"]) == (4, 1, first["pages"])
    assert mirror.is_dir()


@pytest.mark.check
def test_several_sources_a_pattern_and_standard_input(process: Process, mirror: Path, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "one.jsonl.gz", "wt") as lines:
        lines.write(json.dumps({"url": "http://example.org/j", "html": f"<p>{prose(5)}"}) + "\n")
    piped = json.dumps({"url": "http://example.org/s", "text": prose(6)}).encode()
    done = process("index", mirror, "*.jsonl.gz", "-", "--to", "r.parquet", "--json", stdin=piped)
    assert json.loads(done.stdout)["indexed"] == 6, done.stderr
    assert {"http://example.org/j", "http://example.org/s"} < set(urls(tmp_path / "r.parquet"))


@pytest.mark.check
def test_a_pipe_gets_a_row_for_each_reason(process: Process, mirror: Path) -> None:
    done = process("index", mirror, "--to", "records.parquet")
    assert done.stdout.decode().splitlines() == [
        "outcome\treason\tpages",
        "indexed\t\t3",
        "indexed\tsame content\t1",
        "unchanged\t\t0",
        "skipped\ttype image/png\t1",
        "failed\t\t0",
    ]


@pytest.mark.check
def test_a_terminal_gets_a_table(on_terminal: Callable[..., tuple[int, str]], mirror: Path) -> None:
    code, shown = on_terminal("winnow", "index", mirror, "--to", "records.parquet", NO_COLOR="1")
    assert code == 0
    assert "indexed    4  equal to an earlier page: content 1\n" in shown
    assert "skipped    1  type image/png 1\n" in shown
    assert "pages      5\n" in shown
    assert "→ winnow export records.parquet --to records.jsonl" in shown


@pytest.mark.check
def test_failed_pages_are_kept_and_can_be_indexed_again(process: Process, tmp_path: Path) -> None:
    lines, failed_pages = tmp_path / "pages.jsonl", tmp_path / "r.parquet.failed.jsonl"
    broken = gzip.compress(f"<p>{prose(2)}".encode())[:-20]
    body = b64encode(broken).decode()
    page = {"url": "http://example.org/broken", "html_base64": body, "codings": ["gzip"]}
    lines.write_text(
        f"{json.dumps({'url': 'http://example.org/good', 'text': prose(1)})}\n{json.dumps(page)}\nnot JSON\n"
    )
    first = process("index", lines, "--to", "r.parquet", "--json")
    assert first.returncode == 1
    assert json.loads(first.stdout)["failed"] == 2
    assert b"The failed pages are in r.parquet.failed.jsonl" in first.stderr
    mended = b64encode(gzip.compress(f"<p>{prose(2)}".encode())).decode()
    failed_pages.write_text(failed_pages.read_text().replace(body, mended))
    again = process("index", failed_pages, "--to", "r.parquet", "--json")
    answer = json.loads(again.stdout)
    assert (answer["indexed"], answer["failed"]) == (1, 1)
    assert urls(tmp_path / "r.parquet") == ["http://example.org/good", "http://example.org/broken"]
    assert [json.loads(line)["reason"] for line in failed_pages.read_text().splitlines()] == ["not JSON"]


@pytest.mark.check
def test_a_page_that_is_too_large_can_be_read_with_a_larger_limit(process: Process, tmp_path: Path) -> None:
    lines = tmp_path / "pages.jsonl"
    lines.write_text(json.dumps({"url": "http://example.org/large", "text": prose(2, 2000)}) + "\n")
    first = process("index", lines, "--to", "r.parquet", "--max-page-size", "5k", "--json")
    assert list(json.loads(first.stdout)["reasons"]["failed"]) == ["larger than 0.005 MB"]
    assert b"--max-page-size" in first.stderr
    assert json.loads(process("index", lines, "--to", "r.parquet", "--json").stdout)["indexed"] == 1


@pytest.mark.check
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere.warc", "--to", "r.parquet"], "nowhere.warc"),
        (["mirror", "--to", "r.parquet", "--extractor", "magic"], "there is no extractor 'magic'"),
        (["mirror", "--to", "nowhere/r.parquet"], "nowhere"),
        (["mirror", "--to", "mirror/notes.txt"], "notes.txt"),
        (["mirror", "--to", "r.parquet", "--max-page-size", "large"], "not a size"),
        (["http://example.org/", "--to", "r.parquet"], "fetch it first"),
    ],
)
def test_errors_are_reported_and_leave_no_files(
    process: Process, mirror: Path, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    done = process("index", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert done.stdout == b""
    assert list(tmp_path.iterdir()) == [mirror]


@pytest.mark.check
def test_another_scheme_is_refused(process: Process, mirror: Path, tmp_path: Path) -> None:
    process("index", mirror, "--to", "r.parquet")
    before = (tmp_path / "r.parquet").read_bytes()
    done = process("index", mirror, "--to", "r.parquet", "--noise", "20")
    assert done.returncode == 2
    assert b"scheme" in done.stderr
    assert (tmp_path / "r.parquet").read_bytes() == before


@pytest.mark.check
@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_and_the_same_command_continues_it(
    tmp_path: Path, process: Process, signal_: signal.Signals
) -> None:
    lines = tmp_path / "pages.jsonl"
    page = "<p>" + "<b><i>slow</i></b> to parse " * 200  # slow with BeautifulSoup
    with lines.open("w") as file:
        for number in range(2_000):
            file.write(json.dumps({"url": f"http://example.org/{number}", "html": f"{page}{prose(number, 40)}"}) + "\n")
    winnow = str(Path(sys.executable).with_name("winnow"))
    command = [winnow, "index", str(lines), "--to", "r.parquet", "--workers", "1", "--extractor", "beautifulsoup"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any(tmp_path.glob(".r.parquet*")):
        time.sleep(0.02)
    time.sleep(1.5)
    run.send_signal(signal_)
    out, said = run.communicate(timeout=60)
    assert run.returncode == 130, (out, said)
    assert b"run the same command again to continue" in said
    kept = len(urls(tmp_path / "r.parquet"))
    assert 0 <= kept < 2_000
    answer = json.loads(process("index", lines, "--to", "r.parquet", "--json").stdout)
    assert (answer["unchanged"], answer["indexed"]) == (kept, 2_000 - kept)


@pytest.mark.check
def test_code_is_compared_as_code(process: Process, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    body = "\n".join(f"    total = total + values[{n}] * factor" for n in range(12))
    (project / "a.py").write_text(f"def f(values, factor):\n    total = 0\n{body}\n    return total\n")
    renamed = (project / "a.py").read_text().replace("total", "s").replace("values", "v").replace("factor", "q")
    (project / "b.py").write_text("# my own work\n" + renamed)
    done = process("index", project, "--to", "r.parquet", "--preset", "code", "--json")
    assert json.loads(done.stdout)["duplicates"] == {"text": 1}, done.stderr


@pytest.mark.check
def test_any_rows_are_indexed(process: Process, tmp_path: Path) -> None:
    rows = [{"id": number, "text": prose(number)} for number in range(300)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert process("index", "rows.jsonl", "--store", "rows.winnow", "--json").returncode == 0
    done = process("similar", "7", "--store", "rows.winnow", "--json")
    assert json.loads(done.stdout)["matches"] == []
    (tmp_path / "stories.csv").write_text(f"nr;story;head\n7;{prose(7)};A\n;{prose(8)};B\n")
    named = ("--id-field", "nr", "--text-field", "story", "--title-field", "head")
    assert process("index", "stories.csv", "--to", "stories.parquet", *named).returncode == 0
    records = list(read_records(tmp_path / "stories.parquet"))
    location = f"{(tmp_path / 'stories.csv').as_uri()}#row=1"
    assert sorted((record.url, record.title) for record in records) == [("7", "A"), (location, "B")]


def test_rows_without_the_needed_field_stop_the_run_with_one_sentence(process: Process, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"nr": {number}, "story": "x"}}\n' for number in range(20_000)))
    done = process("index", "rows.jsonl", "--store", "rows.winnow")
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "Error: rows.jsonl has no field with a text: its fields are nr, story; name the one that holds the text with "
        "--text-field or FieldNames(text=…)\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]
