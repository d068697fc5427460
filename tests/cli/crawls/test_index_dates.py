"""winnow index --date: two crawls of a folder, whose files have no time of their own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Index
from tests.operations.crawls.test_extract import DAY, archive
from tests.test_index import prose

Winnow = Callable[..., Result]
URL = "https://a.example/page.txt"


def test_a_second_crawl_without_dates_replaces_the_first_and_says_so(winnow: Winnow, tmp_path: Path) -> None:
    page, store = tmp_path / "page.txt", tmp_path / "crawl.winnow"
    notes = []
    for crawl, seed in (("spring", 1), ("autumn", 2)):
        page.write_text(prose(seed, 60))
        done = winnow("index", page, "--store", store, "--crawl", crawl, "--base-url", "https://a.example/", "--quiet")
        notes.append(done.stderr)
    sentence = "replaced what was stored for the same URL. To keep both crawls, give each its --date.\n"
    assert notes == ["", f"1 page without a time {sentence}"]


def test_a_date_in_the_future_is_refused(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(prose(1, 60))
    store = tmp_path / "crawl.winnow"
    done = winnow("index", tmp_path / "page.txt", "--store", store, "--date", "2099-01", "--quiet")
    assert (done.exit_code, done.stdout, store.exists()) == (2, "", False)
    assert done.stderr == "Error: pages cannot be from 2099-01-01, which is in the future\n"


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
        times = [moment.card.fetched_at for moment in index.history(URL)]
        assert times == [datetime(2024, month, 1, tzinfo=UTC) for month in (3, 9)]
        assert index.page("http://a.example/").fetched_at == DAY  # which the archive knows
        assert index.changes("2024-03", "2024-09").counts["changed"] == 1
