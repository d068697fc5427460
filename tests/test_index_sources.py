"""`Index.index`: sources of any kind into both stores, and into record files through the same function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator
from gzip import compress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from opensearch_winnow import Index, Page, Scheme, StoreError, WinnowError
from opensearch_winnow.ingest.page_record import RecordMaker
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.crawls.destinations import (
    RecordFilesDestination,
    StoreDestination,
    destination_named,
)
from opensearch_winnow.operations.crawls.indexing import (
    IndexingOptions,
    add_pages,
    index_sources,
)
from opensearch_winnow.record_files.records import read_records
from opensearch_winnow.stores.lazy_store import LazyStore
from tests.refused import refused
from tests.test_index import prose

URL = "https://example.org/"
CUT_OFF = b64encode(compress(prose("damaged", 60).encode())[:-20]).decode()
DAMAGED = {"url": f"{URL}damaged", "html_base64": CUT_OFF, "codings": ["gzip"]}


@pytest.fixture(params=["file", "opensearch"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a store that does not exist yet."""
    monkeypatch.chdir(tmp_path)
    if request.param == "file":
        return "crawl.winnow"
    return f"{request.getfixturevalue('engine').url}/sources-{uuid4().hex}"


def write_pages(path: Path, names: Iterable[object], *others: dict[str, Any]) -> Path:
    """Write a page for each name, all with different texts, and others."""
    lines = [{"url": f"{URL}{name}", "text": prose(name, 60)} for name in names]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (*lines, *others)))
    return path


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Twenty pages with ten texts, each on two pages, and one page that cannot be read."""
    lines = [{"url": f"{URL}{number}", "text": prose(number // 2, 60)} for number in range(20)]
    return write_pages(tmp_path / "pages.jsonl", (), *lines, DAMAGED)


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.indexed, report.unchanged, report.skipped.total(), report.failed.total()


def stored(name: str | Path) -> list[Record]:
    with Index.open(name, create=False) as index:
        return list(index.store.scan(Record))


def test_a_second_run_finds_everything_unchanged(store: str, pages: Path, tmp_path: Path) -> None:
    calls: list[tuple[int, int | None]] = []

    def progress(report: Report) -> None:
        calls.append((report.pages, report.total_bytes))

    with Index.open(store) as index:
        report = index.index(pages, crawl="one", workers=2, progress=progress)
        assert counts(report) == (20, 0, 0, 1)
        assert (report.duplicates, report.example_url, report.stopped) == ({"content": 10}, f"{URL}0", False)
        assert counts(index.index([pages], workers=1)) == (0, 20, 0, 1)
        assert index.similar(url=f"{URL}0")[0].url == f"{URL}1"
    assert (calls[0], calls[-1]) == ((0, pages.stat().st_size), (21, pages.stat().st_size))
    assert [(each.url, each.crawl) for each in stored(store)] == [(f"{URL}{number}", "one") for number in range(20)]
    failed = tmp_path / f"{store.rpartition('/')[2]}.failed.jsonl"
    assert [json.loads(line)["url"] for line in failed.read_text().splitlines()] == [DAMAGED["url"]]


@pytest.mark.check_on_engine
def test_a_stopped_run_can_be_continued(store: str, tmp_path: Path) -> None:
    sources = [write_pages(tmp_path / f"{a}.jsonl", [f"{a}{number}" for number in range(70)]) for a in "abc"]
    done: list[int] = []
    with Index.open(store) as index:
        report = index.index(
            sources, workers=1, progress=lambda so_far: done.append(so_far.pages), stop=lambda: any(done)
        )
        assert report.stopped
        assert 0 < report.indexed < 210
        kept = index.store.count()
        assert kept == report.indexed
        again = index.index(sources, workers=1)
        assert not again.stopped
        assert counts(again) == (210 - kept, kept, 0, 0)


@pytest.mark.check
def test_an_exception_keeps_the_pages_indexed_before(store: str, pages: Path) -> None:
    def interrupt(report: Report) -> None:
        if report.pages:
            raise KeyboardInterrupt

    with Index.open(store) as index:
        refused(KeyboardInterrupt, "", index.index, pages, workers=1, progress=interrupt)
        assert index.store.count() == 20
        assert counts(index.index(pages, workers=1)) == (0, 20, 0, 1)


def test_errors_are_reported_and_leave_no_files(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong: list[tuple[str, Any, dict[str, Any]]] = [
        *(("nowhere.warc", sources, {}) for sources in ("nowhere.warc", ["pages.jsonl", "nowhere.warc"])),
        ("no source is named", [], {}),
        ("there is no extractor 'magic'", pages, {"extractor": "magic"}),
        ("nowhere/failed.jsonl", pages, {"failed": "nowhere/failed.jsonl"}),
        ("base URL must be a URL", pages, {"base_url": "no url"}),
        *((f"workers is a whole .*, not {workers}", pages, {"workers": workers}) for workers in (0, -1)),
    ]
    with Index.open("crawl.winnow") as index:
        for complaint, sources, options in wrong:
            refused(WinnowError, complaint, index.index, sources, **{"workers": 1, **options})
            assert list(tmp_path.iterdir()) == [pages]
        assert counts(index.index("pages.jsonl", workers=1)) == (20, 0, 0, 1)  # it works afterwards


def test_a_missing_source_creates_no_store(store: str) -> None:
    with Index.open(store) as index:
        refused(WinnowError, r"nowhere\.warc", index.index, "nowhere.warc")
    refused(StoreError, "", Index.open, store, create=False)


def test_an_unexpected_error_fails_only_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected error of a parser occurs in the middle of a batch."""
    make = RecordMaker.make

    def fails(self: RecordMaker, page: Page) -> object:
        if page.url.endswith("7"):
            raise IndexError("out of range")
        return make(self, page)

    monkeypatch.setattr(RecordMaker, "make", fails)
    with Index.open(tmp_path / "crawl.winnow") as index:
        report = index.add(Page(f"{URL}{number}", text=prose(number, 60)) for number in range(10))
        assert counts(report) == (9, 0, 0, 1)
        assert report.failed == {"IndexError: out of range": 1}
        assert index.store.count() == 9


@pytest.mark.check
def test_the_store_remembers_the_recipe(tmp_path: Path) -> None:
    page, other = tmp_path / "page.html", tmp_path / "other.html"
    page.write_text(f"<title>A title</title><p><img alt='A picture'>{prose(1, 60)}")
    other.write_text(f"<title>Another</title><p>{prose(2, 60)}")
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.index(page, workers=1, alt=True, title=True, base_url=URL)
        assert index.page(f"{URL}page.html").text.startswith("A title\nA picture")
        index.index(other, workers=1, base_url=URL)
        assert index.page(f"{URL}other.html").text.startswith("Another\n")
    with Index.open(tmp_path / "small.winnow") as index:
        index.index([page, other], workers=1, text=False, max_page_size=page.stat().st_size - 1, base_url=URL)
        assert [(record.url, record.text) for record in index.store.scan(Record)] == [(f"{URL}other.html", "")]


def test_the_folder_of_the_store_may_be_a_source(pages: Path, tmp_path: Path) -> None:
    """The files that a run writes are not read, not even by the next run."""
    store = tmp_path / "crawl.winnow"
    with Index.open(store) as index:
        assert counts(index.index(tmp_path, workers=1)) == (20, 0, 0, 1)
        assert counts(index.index(tmp_path, workers=1)) == (0, 20, 0, 1)
        refused(WinnowError, "is a SQLite file, as stores are", index.index, [pages, store])


@pytest.mark.parametrize("name", ["records.parquet", pytest.param("records/", marks=pytest.mark.check)])
def test_record_files_through_the_same_function(pages: Path, tmp_path: Path, name: str) -> None:
    scheme, options = Scheme.preset("passages"), IndexingOptions(workers=1)
    with destination_named(to=f"{tmp_path}/{name}", scheme=scheme) as target:
        report = index_sources(target, pages, options)
        assert (counts(report), report.example_url) == ((20, 0, 0, 1), f"{URL}0")
        assert counts(index_sources(target, pages, options)) == (0, 20, 0, 1)
    with Index.open(tmp_path / "crawl.winnow", scheme=scheme) as index:
        index.index(pages, workers=1)
    assert list(read_records(tmp_path / name, scheme)) == stored(tmp_path / "crawl.winnow")
    refused(WinnowError, "scheme", index_sources, RecordFilesDestination(tmp_path / name, Scheme()), pages, options)


def test_an_error_before_the_run_leaves_no_record_file(pages: Path, tmp_path: Path) -> None:
    target, failed = RecordFilesDestination(tmp_path / "records.parquet"), tmp_path / "nowhere" / "failed.jsonl"
    refused(WinnowError, "failed pages", index_sources, target, pages, IndexingOptions(failed=failed))
    refused(WinnowError, "failed pages", add_pages, target, [], failed=failed)
    assert list(tmp_path.iterdir()) == [pages]


@pytest.mark.parametrize("named", [{}, {"store": "a.winnow", "to": "a.parquet"}])
def test_exactly_one_target_is_required(named: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="either a store or record"), destination_named(**named):
        pass


def test_a_new_store_without_pages_is_removed_but_an_existing_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "crawl.winnow"

    def interrupted() -> Iterator[Page]:
        yield from ()
        raise KeyboardInterrupt

    for exists in (False, False, True):
        if exists:
            with Index.open(path) as index:
                assert index.add([]).pages == 0
            assert path.exists()
        with LazyStore(str(path)) as opened:
            refused(KeyboardInterrupt, "", add_pages, StoreDestination(opened), interrupted())
        assert path.exists() == exists


SCRIPT = """
print("started as", __name__)
from opensearch_winnow import Index
with Index.open("crawl.winnow") as index:
    print(index.index("pages.jsonl", workers=2).pages)
"""


def run(folder: Path, *arguments: str, given: str = "") -> tuple[str, str]:
    """Run Python in a folder that it also imports from, and return what it prints and its complaints."""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(folder)]))
    done = subprocess.run(
        [sys.executable, *arguments],
        input=given,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("way", ["file", *(pytest.param(way, marks=pytest.mark.check) for way in ("-m", "-c", "-"))])
def test_a_script_needs_no_main_guard(pages: Path, tmp_path: Path, way: str) -> None:
    """Worker processes do not run the script again, as spawned processes usually do."""
    (tmp_path / "script.py").write_text(SCRIPT)
    arguments = {"file": ["script.py"], "-m": ["-m", "script"], "-c": ["-c", SCRIPT], "-": ["-"]}[way]
    assert pages.parent == tmp_path
    assert run(tmp_path, *arguments, given=SCRIPT if way == "-" else "") == ("started as __main__\n21\n", "")


@pytest.mark.check
def test_standard_input_is_a_source(pages: Path, tmp_path: Path) -> None:
    script = SCRIPT.replace('"pages.jsonl"', '"-"')
    assert run(tmp_path, "-c", script, given=pages.read_text()) == ("started as __main__\n21\n", "")
