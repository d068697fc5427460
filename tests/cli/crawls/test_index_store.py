"""winnow index into a store, and winnow export out of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.record_files.reader import scheme_of
from opensearch_winnow.record_files.records import read_records
from opensearch_winnow.stores.embedded import EmbeddedStore
from tests.cli.conftest import OnTerminal, Process, json_lines
from tests.cli.crawls.conftest import URL, counted, prose, stored


def lines(path: Path, numbers: range) -> Path:
    html = "<title>Page {}</title><p><img alt='Picture'>{}"
    return json_lines(path, *({"url": f"{URL}{n}", "html": html.format(n, prose(n // 3))} for n in numbers))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Thirty pages with ten texts, each on three pages."""
    return lines(tmp_path / "pages.jsonl", range(30))


def test_a_second_run_finds_everything_unchanged(process: Process, pages: Path, tmp_path: Path) -> None:
    assert counted(process("index", pages, "--store", "a.winnow", "--crawl", "one", "--json")) == (30, 0, 0, 0)
    before = stored(tmp_path / "a.winnow")
    assert [(record.url, record.crawl) for record in before] == [(f"{URL}{number}", "one") for number in range(30)]
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
@pytest.mark.parametrize(("option", "name"), [("--store", "a.winnow"), ("--to", "a.parquet")])
def test_the_first_scheme_stays(process: Process, pages: Path, tmp_path: Path, option: str, name: str) -> None:
    process("index", pages, option, name, "--preset", "passages")
    more = lines(tmp_path / "more.jsonl", range(30, 33))
    again = [] if option == "--store" else ["--preset", "passages"]  # a record file is as the command says
    assert counted(process("index", more, option, name, *again, "--json")) == (3, 0, 0, 0)
    assert counted(process("index", more, option, name, "--preset", "passages", "--json")) == (0, 3, 0, 0)
    before = (tmp_path / name).read_bytes()
    for other in (["--preset", "pages"], ["--noise", "30"], ["--selection", "mod-p"]):
        done = process("index", pages, option, name, *other)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
        assert b"scheme" in done.stderr
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.check
def test_the_store_remembers_the_recipe(process: Process, pages: Path, tmp_path: Path) -> None:
    process("index", pages, "--store", "a.winnow", "--alt", "--title", "--extractor", "beautifulsoup")
    process("index", lines(tmp_path / "b.jsonl", range(40, 41)), "--store", "a.winnow")
    process("index", lines(tmp_path / "c.jsonl", range(50, 51)), "--store", "a.winnow", "--no-alt", "--no-title")
    texts = {record.url: record.text for record in stored(tmp_path / "a.winnow")}
    assert texts[f"{URL}40"].startswith("Page 40\nPicture")
    assert texts[f"{URL}50"].startswith(prose(50 // 3)[:9])
    with EmbeddedStore.open(tmp_path / "a.winnow") as store:
        kept = store.settings.with_prefix()["recipe"]
    assert kept == {"extractor": "beautifulsoup", "alt": True, "title": True, "text": True}


@pytest.mark.check
@pytest.mark.parametrize("place", ["--store", "--to"])
def test_records_without_texts(process: Process, pages: Path, tmp_path: Path, place: str) -> None:
    process("index", pages, place, "a", "--no-text")
    process("index", pages, "--to", "b.parquet")
    without = stored(tmp_path / "a") if place == "--store" else list(read_records(tmp_path / "a"))
    assert {record.text for record in without} == {""}
    for one, other in zip(without, read_records(tmp_path / "b.parquet"), strict=True):
        assert (one.id, one.title, one.hashes) == (other.id, other.title, other.hashes)
    assert counted(process("index", pages, place, "a", "--json")) == (0, 30, 0, 0)


def test_a_terminal_shows_the_store_and_the_next_command(on_terminal: OnTerminal, pages: Path, tmp_path: Path) -> None:
    code, shown = on_terminal("winnow", "index", pages, "--store", "a.winnow", NO_COLOR="1")
    assert (code, (tmp_path / "a.winnow").exists()) == (0, True)
    assert "indexed    30  equal to an earlier page: text 20\n" in shown
    assert "\na.winnow: " in shown
    assert f"→ winnow similar {URL}0 --store a.winnow" in shown


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
    assert [record.hashes.text_digest == records[0].hashes.text_digest for record in records] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert records[2].title == records[0].title
    assert counted(process("index", samples, "--store", "a.winnow", "--json")) == (0, 5, 0, 0)
    assert stored(tmp_path / "a.winnow") == records
