from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow.foundation.atomic_file import AtomicFile
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.runs import failed_pages
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.split import Failed, Split

NOW = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
CODED = {"content_type": "text/html; charset=latin-1", "codings": ("gzip", "chunked")}
PAGES = [
    Page("http://example.org/a", html=b"\x1f\x8b\xff\x00", fetched_at=NOW, **CODED),  # type: ignore[arg-type]
    Page("http://example.org/b", html="<p>\u00e9", title="T"),
    Page("http://example.org/c", text="only text \N{GRINNING FACE}"),
]
URLS = [page.url for page in PAGES]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "failed.jsonl"


def urls(path: Path) -> list[str]:
    """Return the URLs in the file, next to which no other was left."""
    assert list(path.parent.iterdir()) == [path]
    return sorted(json.loads(line)["url"] for line in path.read_text().splitlines())


def test_a_failed_page_comes_back_as_it_was(path: Path) -> None:
    with FailedPages(path) as failed:
        for page in PAGES:
            failed.add(Failed(page, "too odd"), "crawl.warc")
    assert json.loads(path.read_text().splitlines()[0])["reason"] == "too odd"
    found = [item for _, item in read(Split("jsonl", str(path), size=path.stat().st_size), 10_000)]
    assert found == [*PAGES, None]


def test_failures_in_other_sources_are_kept(path: Path) -> None:
    for page, source in zip(PAGES[:2], ("one.warc", "other.warc"), strict=True):
        with FailedPages(path) as failed:
            failed.reading(source)
            failed.add(Failed(page, "reason"), source)
            failed.incomplete = False
    assert urls(path) == URLS[:2]


@pytest.mark.parametrize("incomplete", [True, False])
@pytest.mark.parametrize("itself", [True, False])
def test_the_lines_of_a_source_are_replaced_after_a_complete_run(path: Path, itself: bool, incomplete: bool) -> None:
    source = str(path) if itself else "crawl.warc"
    for pages in (PAGES, PAGES[1:2]):
        with FailedPages(path) as failed:
            failed.reading(source if pages is not PAGES else "crawl.warc")
            for page in pages:
                failed.add(Failed(page, "reason"), source)
            failed.incomplete = incomplete
    assert urls(path) == (sorted([*URLS, URLS[1]]) if incomplete else [URLS[1]])


def test_there_is_no_file_when_no_page_fails_any_more(path: Path) -> None:
    with FailedPages(path):
        pass
    assert list(path.parent.iterdir()) == []
    path.write_text('{"url": "http://example.org/", "text": "x"}\n')
    with FailedPages(path) as failed:
        failed.reading(str(path))
        failed.incomplete = False
    assert list(path.parent.iterdir()) == []


def test_other_lines_are_kept(path: Path) -> None:
    before = '{"url": "http://example.org/", "text": "x"}\nnot JSON\n[]\n'
    path.write_text(before)
    with FailedPages(path) as failed:
        failed.reading("crawl.warc")
        failed.incomplete = False
    assert path.read_text() == before


def test_a_file_that_cannot_be_written_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(WinnowError, match=r"nowhere/failed\.jsonl: No such file or directory; choose another file"):
        FailedPages(tmp_path / "nowhere" / "failed.jsonl")


def test_only_regular_files_are_accepted(tmp_path: Path) -> None:
    """A file without failed pages is removed at the end, which must not happen to /dev/null or to a pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(WinnowError, match="pipe is not a regular file; name another"):
        FailedPages(pipe)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_runs_at_the_same_time_keep_the_lines_of_each_other(path: Path) -> None:
    with FailedPages(path) as one, FailedPages(path) as other:
        one.add(Failed(PAGES[0], "reason"), "one.warc")
        other.add(Failed(PAGES[1], "reason"), "other.warc")
    assert urls(path) == URLS[:2]


def test_a_run_waits_while_another_writes_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor(1) as thread:
        other = AtomicFile(path)
        waiting = thread.submit(FailedPages(path).__exit__)
        with pytest.raises(TimeoutError):
            waiting.result(0.1)
        other.discard()
        waiting.result(60)
    monkeypatch.setattr(failed_pages, "WAIT_SECONDS", 0)
    other = AtomicFile(path)
    with pytest.raises(WinnowError, match="is being written by another process"), FailedPages(path):
        pass
    other.discard()
