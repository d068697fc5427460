"""`Index.index`: sources of any kind into both stores, and into record files through the same function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from gzip import compress
from pathlib import Path
from uuid import uuid4

import pytest

from opensearch_winnow import Index, Page, Scheme, StoreError, WinnowError
from opensearch_winnow.ingest.page_record import RecordMaker
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.crawls.indexing import (
    IndexingOptions,
    RecordFilesTarget,
    add_pages,
    index_sources,
    open_target,
)
from opensearch_winnow.operations.crawls.lazy_store import LazyStore
from opensearch_winnow.record_files.records import read_records
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


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Twenty pages with ten texts, each on two pages, and one page that cannot be read."""
    path = tmp_path / "pages.jsonl"
    lines = [{"url": f"{URL}{number}", "text": prose(number // 2, 60)} for number in range(20)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (*lines, DAMAGED)))
    return path


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.indexed, report.unchanged, report.skipped.total(), report.failed.total()


def stored(name: str | Path) -> list[Record]:
    with Index.open(name, create=False) as index:
        return list(index.store.scan(Record))


def test_a_second_run_finds_everything_unchanged(store: str, pages: Path, tmp_path: Path) -> None:
    calls: list[tuple[int, int | None]] = []
    with Index.open(store) as index:
        report = index.index(
            pages, crawl="one", workers=2, progress=lambda so_far: calls.append((so_far.pages, so_far.total_bytes))
        )
        assert counts(report) == (20, 0, 0, 1)
        assert report.duplicates == {"content": 10}
        assert report.example_url == f"{URL}0"
        assert not report.stopped
        assert counts(index.index([pages], workers=1)) == (0, 20, 0, 1)
        assert index.similar(url=f"{URL}0")[0].url == f"{URL}1"
    assert calls[0] == (0, pages.stat().st_size)
    assert calls[-1] == (21, pages.stat().st_size)
    records = stored(store)
    assert [record.url for record in records] == [f"{URL}{number}" for number in range(20)]
    assert {record.crawl for record in records} == {"one"}
    failed = tmp_path / f"{store.rpartition('/')[2]}.failed.jsonl"
    assert [json.loads(line)["url"] for line in failed.read_text().splitlines()] == [DAMAGED["url"]]


@pytest.mark.check_on_engine
def test_a_stopped_run_can_be_continued(store: str, tmp_path: Path) -> None:
    for name in "abc":
        lines = [{"url": f"{URL}{name}{number}", "text": prose(f"{name}{number}", 60)} for number in range(70)]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    sources = [tmp_path / f"{name}.jsonl" for name in "abc"]
    done = 0

    def progress(report: Report) -> None:
        nonlocal done
        done = report.pages

    with Index.open(store) as index:
        report = index.index(sources, workers=1, progress=progress, stop=lambda: done > 0)
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
        with pytest.raises(KeyboardInterrupt):
            index.index(pages, workers=1, progress=interrupt)
        assert index.store.count() == 20
        assert counts(index.index(pages, workers=1)) == (0, 20, 0, 1)


@pytest.mark.check
@pytest.mark.parametrize(
    ("sources", "options", "complaint"),
    [
        ("nowhere.warc", {}, "nowhere.warc"),
        (["pages.jsonl", "nowhere.warc"], {}, "nowhere.warc"),
        ([], {}, "no source is named"),
        ("pages.jsonl", {"extractor": "magic"}, "there is no extractor 'magic'"),
        ("pages.jsonl", {"failed": "nowhere/failed.jsonl"}, "nowhere/failed.jsonl"),
        ("pages.jsonl", {"base_url": "no url"}, "base URL must be a URL"),
    ],
)
def test_errors_are_reported_and_leave_no_files(
    pages: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sources: str | list[str],
    options: dict[str, str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with Index.open("crawl.winnow") as index:
        with pytest.raises(WinnowError, match=complaint):
            index.index(sources, workers=1, **options)  # type: ignore[arg-type]
        assert list(tmp_path.iterdir()) == [pages]
        assert counts(index.index("pages.jsonl", workers=1)) == (20, 0, 0, 1)  # it works afterwards


def test_a_missing_source_creates_no_store(store: str) -> None:
    with Index.open(store) as index, pytest.raises(WinnowError, match=r"nowhere\.warc"):
        index.index("nowhere.warc")
    with pytest.raises(StoreError):
        Index.open(store, create=False)


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
    page = tmp_path / "page.html"
    page.write_text(f"<title>A title</title><p><img alt='A picture'>{prose(1, 60)}")
    other = tmp_path / "other.html"
    other.write_text(f"<title>Another</title><p>{prose(2, 60)}")
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.index(page, workers=1, alt=True, title=True, base_url=URL)
        assert index.page(f"{URL}page.html").text.startswith("A title\nA picture")
        index.index(other, workers=1, base_url=URL)
        assert index.page(f"{URL}other.html").text.startswith("Another\n")
    with Index.open(tmp_path / "small.winnow") as index:
        index.index([page, other], workers=1, text=False, max_page_size=page.stat().st_size - 1, base_url=URL)
        (record,) = index.store.scan(Record)
        assert (record.url, record.text) == (f"{URL}other.html", "")


def test_the_folder_of_the_store_may_be_a_source(pages: Path, tmp_path: Path) -> None:
    """The files that a run writes are not read, not even by the next run."""
    with Index.open(tmp_path / "crawl.winnow") as index:
        assert counts(index.index(tmp_path, workers=1)) == (20, 0, 0, 1)
        assert counts(index.index(tmp_path, workers=1)) == (0, 20, 0, 1)
        with pytest.raises(WinnowError, match="is a SQLite file, as stores are"):
            index.index([pages, tmp_path / "crawl.winnow"])


@pytest.mark.parametrize("name", ["records.parquet", pytest.param("records/", marks=pytest.mark.check)])
def test_record_files_through_the_same_function(pages: Path, tmp_path: Path, name: str) -> None:
    with open_target(to=f"{tmp_path}/{name}", scheme=Scheme.preset("passages")) as target:
        report = index_sources(target, pages, IndexingOptions(workers=1))
        assert counts(report) == (20, 0, 0, 1)
        assert report.example_url == f"{URL}0"
        assert counts(index_sources(target, pages, IndexingOptions(workers=1))) == (0, 20, 0, 1)
    with Index.open(tmp_path / "crawl.winnow", scheme=Scheme.preset("passages")) as index:
        index.index(pages, workers=1)
    assert list(read_records(tmp_path / name, Scheme.preset("passages"))) == stored(tmp_path / "crawl.winnow")
    with pytest.raises(WinnowError, match="scheme"):
        index_sources(RecordFilesTarget(tmp_path / name, Scheme()), pages, IndexingOptions())


def test_an_error_before_the_run_leaves_no_record_file(pages: Path, tmp_path: Path) -> None:
    target = RecordFilesTarget(tmp_path / "records.parquet")
    with pytest.raises(WinnowError, match="failed pages"):
        index_sources(target, pages, IndexingOptions(failed=tmp_path / "nowhere" / "failed.jsonl"))
    with pytest.raises(WinnowError, match="failed pages"):
        add_pages(target, [], failed=tmp_path / "nowhere" / "failed.jsonl")
    assert list(tmp_path.iterdir()) == [pages]


def test_exactly_one_target_is_required() -> None:
    with pytest.raises(ValueError, match="either a store or record"), open_target():
        pass
    with (
        pytest.raises(ValueError, match="either a store or record"),
        open_target(store="a.winnow", to="a.parquet"),
    ):
        pass


def test_a_new_store_without_pages_is_removed_but_an_existing_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "crawl.winnow"

    def interrupted() -> Iterator[Page]:
        yield from ()
        raise KeyboardInterrupt

    for _ in range(2):
        with LazyStore(str(path)) as target, pytest.raises(KeyboardInterrupt):
            add_pages(target, interrupted())
        assert not path.exists()
    with Index.open(path) as index:
        assert index.add([]).pages == 0
    assert path.exists()
    with LazyStore(str(path)) as target, pytest.raises(KeyboardInterrupt):
        add_pages(target, interrupted())
    assert path.exists()


SCRIPT = """
print("started as", __name__)
from opensearch_winnow import Index
with Index.open("crawl.winnow") as index:
    print(index.index("pages.jsonl", workers=2).pages)
"""


@pytest.mark.parametrize("way", ["file", *(pytest.param(way, marks=pytest.mark.check) for way in ("-m", "-c", "-"))])
def test_a_script_needs_no_main_guard(pages: Path, tmp_path: Path, way: str) -> None:
    """Worker processes do not run the script again, as spawned processes usually do."""
    (tmp_path / "script.py").write_text(SCRIPT)
    arguments = {"file": ["script.py"], "-m": ["-m", "script"], "-c": ["-c", SCRIPT], "-": ["-"]}[way]
    done = subprocess.run(
        [sys.executable, *arguments],
        input=SCRIPT if way == "-" else None,
        cwd=pages.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(tmp_path)]))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("started as __main__\n21\n", "")


@pytest.mark.check
def test_standard_input_is_a_source(pages: Path, tmp_path: Path) -> None:
    script = SCRIPT.replace('"pages.jsonl"', '"-"')
    with pages.open("rb") as piped:
        done = subprocess.run(
            [sys.executable, "-c", script], stdin=piped, cwd=tmp_path, capture_output=True, text=True, check=False
        )
    assert (done.stdout, done.stderr) == ("started as __main__\n21\n", "")


@pytest.mark.parametrize("workers", [0, -1])
def test_a_run_without_workers_is_refused_and_leaves_no_store(tmp_path: Path, pages: Path, workers: int) -> None:
    name = tmp_path / "crawl.winnow"
    with (
        Index.open(name) as index,
        pytest.raises(WinnowError, match=f"workers is a whole .*, not {workers}"),
    ):
        index.index(pages, workers=workers)
    assert not name.exists()
