"""winnow index into a store, and winnow export out of it."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.reader import scheme_of
from opensearch_winnow.record_files.records import read_records
from opensearch_winnow.stores.embedded import EmbeddedStore

Process = Callable[..., subprocess.CompletedProcess[bytes]]
URL = "http://example.org/"


def prose(seed: int, words: int = 80) -> str:
    source = Random(seed)
    return " ".join("".join(source.choices("abcdefghij", k=source.randint(2, 9))) for _ in range(words))


def lines(path: Path, numbers: range, words: int = 80) -> Path:
    with path.open("w") as file:
        for number in numbers:
            html = f"<title>Page {number}</title><p><img alt='Picture'>{prose(number // 3, words)}"
            file.write(json.dumps({"url": f"{URL}{number}", "html": html}) + "\n")
    return path


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Thirty pages with ten texts, each on three pages."""
    return lines(tmp_path / "pages.jsonl", range(30))


def counted(done: subprocess.CompletedProcess[bytes]) -> tuple[int, ...]:
    assert done.returncode in (0, 1), done.stderr
    answer = json.loads(done.stdout)
    outcomes = ("indexed", "unchanged", "skipped", "failed")
    assert answer["pages"] == sum(answer[name] for name in outcomes)
    return tuple(answer[name] for name in outcomes)


def stored(path: Path) -> list[Record]:
    with EmbeddedStore.open(path) as store:
        return list(store.scan(Record))


def settings(path: Path) -> dict[str, Any]:
    with EmbeddedStore.open(path) as store:
        return store.settings.with_prefix()


def test_a_second_run_finds_everything_unchanged(process: Process, pages: Path, tmp_path: Path) -> None:
    first = process("index", pages, "--store", "a.winnow", "--crawl", "one", "--json")
    assert counted(first) == (30, 0, 0, 0)
    before = stored(tmp_path / "a.winnow")
    assert [record.url for record in before] == [f"{URL}{number}" for number in range(30)]
    assert counted(process("index", pages, "--json", WINNOW_STORE="a.winnow")) == (0, 30, 0, 0)
    assert stored(tmp_path / "a.winnow") == before
    assert {path.name for path in tmp_path.iterdir()} == {"pages.jsonl", "a.winnow"}


@pytest.mark.check
def test_a_store_has_the_same_records_as_a_record_file(process: Process, pages: Path, tmp_path: Path) -> None:
    process("index", pages, "--to", "a.parquet", WINNOW_STORE="not-this-one.winnow")
    process("index", pages, "--store", "a.winnow")
    assert stored(tmp_path / "a.winnow") == list(read_records(tmp_path / "a.parquet"))
    done = process("export", "--store", "a.winnow", "--to", "b.parquet", "--json")
    assert json.loads(done.stdout)["records"] == 30
    assert scheme_of(tmp_path / "b.parquet").scheme() == Scheme()
    assert list(read_records(tmp_path / "b.parquet", Scheme())) == list(read_records(tmp_path / "a.parquet"))
    # The exported file is a usual record file, which can be merged and added to.
    assert process("export", "a.parquet", "b.parquet", "--to", "c.parquet").returncode == 0
    assert counted(process("index", pages, "--to", "b.parquet", "--json")) == (0, 30, 0, 0)
    assert not (tmp_path / "not-this-one.winnow").exists()


@pytest.mark.check
@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "-"])
def test_a_part_of_a_store_as_json_lines(process: Process, tmp_path: Path, name: str) -> None:
    for crawl, numbers in (("one", range(5)), ("two", range(5, 12))):
        process("index", lines(tmp_path / f"{crawl}.jsonl", numbers), "--store", "a.winnow", "--crawl", crawl)
    done = process("export", "--to", name, "--crawl", "two", "--site", "Example.org", WINNOW_STORE="a.winnow")
    assert done.returncode == 0, done.stderr
    content = done.stdout if name == "-" else (tmp_path / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    assert [json.loads(line)["url"] for line in content.splitlines()] == [f"{URL}{number}" for number in range(5, 12)]
    nothing = process("export", "--store", "a.winnow", "--to", "none.jsonl", "--site", "example.com")
    assert (nothing.returncode, nothing.stdout) == (1, b"")
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.check
def test_the_scheme_of_the_store_is_used(process: Process, pages: Path, tmp_path: Path) -> None:
    process("index", pages, "--store", "a.winnow", "--preset", "passages")
    more = lines(tmp_path / "more.jsonl", range(30, 33))
    assert counted(process("index", more, "--store", "a.winnow", "--json")) == (3, 0, 0, 0)
    assert counted(process("index", more, "--store", "a.winnow", "--preset", "passages", "--json")) == (0, 3, 0, 0)
    before = stored(tmp_path / "a.winnow")
    for other in (["--preset", "pages"], ["--noise", "30"], ["--selection", "mod-p"]):
        done = process("index", pages, "--store", "a.winnow", *other)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.count(b"\n") == 1
        assert b"scheme" in done.stderr
    assert stored(tmp_path / "a.winnow") == before
    with EmbeddedStore.open(tmp_path / "a.winnow") as store:
        assert store.scheme == Scheme.preset("passages")


@pytest.mark.check
def test_the_store_remembers_the_recipe(process: Process, pages: Path, tmp_path: Path) -> None:
    process("index", pages, "--store", "a.winnow", "--alt", "--title", "--extractor", "beautifulsoup")
    kept = {"extractor": "beautifulsoup", "alt": True, "title": True, "text": True}
    assert settings(tmp_path / "a.winnow")["recipe"] == kept
    process("index", lines(tmp_path / "b.jsonl", range(40, 41)), "--store", "a.winnow")
    process("index", lines(tmp_path / "c.jsonl", range(50, 51)), "--store", "a.winnow", "--no-alt", "--no-title")
    texts = {record.url: record.text for record in stored(tmp_path / "a.winnow")}
    assert "Picture" in texts[f"{URL}0"]
    assert texts[f"{URL}40"].startswith("Page 40\nPicture")
    assert texts[f"{URL}50"].startswith(prose(50 // 3)[:9])
    assert settings(tmp_path / "a.winnow")["recipe"] == kept


@pytest.mark.check
@pytest.mark.parametrize("place", ["--store", "--to"])
def test_records_without_texts(process: Process, pages: Path, tmp_path: Path, place: str) -> None:
    process("index", pages, place, "a", "--no-text")
    process("index", pages, "--to", "b.parquet")
    without = stored(tmp_path / "a") if place == "--store" else list(read_records(tmp_path / "a"))
    assert {record.text for record in without} == {""}
    for one, other in zip(without, read_records(tmp_path / "b.parquet"), strict=True):
        assert (one.id, one.text_digest, one.minhash) == (other.id, other.text_digest, other.minhash)
        assert (one.fingerprints, one.sketch, one.title) == (other.fingerprints, other.sketch, other.title)
    assert counted(process("index", pages, place, "a", "--json")) == (0, 30, 0, 0)


@pytest.mark.check
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere.warc", "--store", "a.winnow"], "nowhere.warc"),
        (["pages.jsonl", "--store", "a.winnow", "--extractor", "magic"], "there is no extractor 'magic'"),
        (["pages.jsonl", "--store", "nowhere/a.winnow"], "Error: nowhere/a.winnow cannot be created"),
        (["pages.jsonl", "--store", ""], "add --store crawl.winnow"),
        (["pages.jsonl", "--store", "pages.jsonl"], "pages.jsonl is another kind of file, not a store"),
        (["pages.jsonl", "--store", "."], "is a folder"),
        (["pages.jsonl", "--store", "a.winnow", "--failed", "nowhere/f.jsonl"], "nowhere/f.jsonl"),
        (["pages.jsonl", "--store", "http://127.0.0.1:9/pages"], "127.0.0.1:9"),
        (["pages.jsonl", "--store", "a.winnow", "--to", "a.parquet"], "use only one of them"),
        (["pages.jsonl"], "add --store crawl.winnow, or --to records.parquet"),
        (["pages.jsonl", "--to", "a.winnow"], "--store a.winnow"),
        (["pages.jsonl", "--store", "a.winnow", "--noise", "9", "--guarantee", "3"], "guarantee"),
    ],
)
def test_errors_are_reported_and_leave_no_files(
    process: Process, pages: Path, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    done = process("index", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert complaint in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert list(tmp_path.iterdir()) == [pages]


@pytest.mark.check
def test_a_store_is_not_a_source(process: Process, pages: Path, tmp_path: Path) -> None:
    process("index", pages, "--store", "a.winnow")
    done = process("index", "a.winnow", "--store", "b.winnow")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("Error: a.winnow is a SQLite file, as stores are, and not a source of pages")
    assert not (tmp_path / "b.winnow").exists()
    # A store within a folder of sources is skipped.
    assert counted(process("index", ".", "--store", "a.winnow", "--json")) == (0, 30, 0, 0)


@pytest.mark.check
@pytest.mark.parametrize("out", ["out.parquet", "-"])
def test_stores_that_cannot_be_exported_are_reported(process: Process, pages: Path, tmp_path: Path, out: str) -> None:
    process("index", pages, "--store", "a.winnow")
    garbage = Random(1).randbytes(50_000)
    whole = (tmp_path / "a.winnow").read_bytes()
    (tmp_path / "garbage.winnow").write_bytes(garbage)
    (tmp_path / "cut.winnow").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "broken.winnow").write_bytes(whole[:16_384] + garbage[: len(whole) - 16_384])
    for name in ("gone.winnow", "garbage.winnow", "cut.winnow", "broken.winnow"):
        done = process("export", "--store", name, "--to", out)
        assert (done.returncode, done.stdout) == (2, b""), name
        assert done.stderr.decode().startswith("Error: ")
        assert name in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1
    assert process("export", "a.parquet", "--store", "a.winnow", "--to", out).returncode == 2
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.check
def test_a_damaged_store_is_reported_by_index(process: Process, pages: Path, tmp_path: Path) -> None:
    process("index", pages, "--store", "a.winnow")
    whole = (tmp_path / "a.winnow").read_bytes()
    broken = whole[:16_384] + Random(1).randbytes(len(whole) - 16_384)
    (tmp_path / "broken.winnow").write_bytes(broken)
    done = process("index", pages, "--store", "broken.winnow", "--json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"broken.winnow" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_terminal_shows_the_store_and_the_next_command(
    on_terminal: Callable[..., tuple[int, str]], pages: Path, tmp_path: Path
) -> None:
    code, shown = on_terminal("winnow", "index", pages, "--store", "a.winnow", NO_COLOR="1")
    assert code == 0
    assert "indexed    30  equal to an earlier page: text 20\n" in shown
    assert "\na.winnow: " in shown
    assert f"→ winnow similar {URL}0 --store a.winnow" in shown
    assert (tmp_path / "a.winnow").exists()


@pytest.mark.check
def test_revisits_of_a_real_crawl_get_the_text_that_they_repeat(
    process: Process, unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    """Their text is found by the payload digest or, if the server answered "not modified", by the URL."""
    samples = unpacked("warc-samples") / "iipc/specifications/warc-deduplication/samples"
    assert counted(process("index", samples, "--store", "a.winnow", "--json")) == (5, 0, 0, 0)
    records = stored(tmp_path / "a.winnow")
    assert [record.duplicate for record in records] == [None, "revisit", "revisit", None, "revisit"]
    assert [len(record.text) for record in records] == [5508, 5508, 5508, 8301, 8301]
    assert [record.text_digest == records[0].text_digest for record in records] == [True, True, True, False, False]
    assert records[2].title == records[0].title
    assert counted(process("index", samples, "--store", "a.winnow", "--json")) == (0, 5, 0, 0)
    assert stored(tmp_path / "a.winnow") == records
