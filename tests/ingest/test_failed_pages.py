from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow.errors import WinnowError
from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import jsonl
from opensearch_winnow.ingest.sources.split import Failed, Split

PAGES = [
    Page(
        "http://example.org/a",
        html=b"\x1f\x8b\xff\x00",
        fetched_at=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        content_type="text/html; charset=latin-1",
        codings=("gzip", "chunked"),
    ),
    Page("http://example.org/b", html="<p>\u00e9", title="T"),
    Page("http://example.org/c", text="only text \N{GRINNING FACE}"),
]


def lines(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text().splitlines()]


def test_a_failed_page_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    with FailedPages(path) as failed:
        for page in PAGES:
            failed.add(Failed(page, "too odd"), "crawl.warc")
    assert json.loads(path.read_text().splitlines()[0])["reason"] == "too odd"
    read = [item for _, item in jsonl.read(Split("jsonl", str(path), size=path.stat().st_size), 10_000)]
    assert read == [*PAGES, None]


def test_nothing_failed_and_no_file(tmp_path: Path) -> None:
    with FailedPages(tmp_path / "failed.jsonl"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_earlier_failures_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    for page in PAGES[:2]:
        with FailedPages(path) as failed:
            failed.add(Failed(page, "reason"), "source")
            failed.incomplete = False
    assert lines(path) == [page.url for page in PAGES[:2]]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("incomplete", [True, False])
def test_a_source_that_was_tried_again_to_its_end_is_replaced(tmp_path: Path, incomplete: bool) -> None:
    path = tmp_path / "failed.jsonl"
    with FailedPages(path) as failed:
        for page in PAGES:
            failed.add(Failed(page, "reason"), "source")
    with FailedPages(path, is_source=True) as failed:
        failed.add(Failed(PAGES[1], "again"), str(path))
        failed.incomplete = incomplete
    urls = [page.url for page in PAGES]
    assert lines(path) == ([*urls, urls[1]] if incomplete else [urls[1]])


def test_a_source_whose_pages_are_all_well_now_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    path.write_text('{"url": "http://example.org/", "text": "x"}\n')
    with FailedPages(path, is_source=True) as failed:
        failed.incomplete = False
    assert not path.exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(WinnowError, match="nowhere/failed.jsonl: No such file or directory; choose another place with"),
        FailedPages(tmp_path / "nowhere" / "failed.jsonl") as failed,
    ):
        failed.add(Failed(PAGES[0], "reason"), "source")
