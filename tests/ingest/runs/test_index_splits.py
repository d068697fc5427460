"""Indexing runs with real worker processes."""

from __future__ import annotations

import gzip
import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from random import Random
from typing import Any

import pytest

from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.ingest.runs.pages_before_run import PagesBeforeRun
from opensearch_winnow.ingest.runs.worker import Job
from opensearch_winnow.ingest.runs.worker_pool import WorkerPool
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.ingest.sources.splits import splits
from opensearch_winnow.mappings.record import Record
from tests.ingest.conftest import Run, html

URL = "http://example.org/"


def pages(count: int) -> list[tuple[str, bytes]]:
    return [(f"{URL}{number}", html(number)) for number in range(count)]


@pytest.mark.check
def test_records_and_their_order_do_not_depend_on_workers_or_splits(
    run: Run, warc: Callable[..., Path], tmp_path: Path
) -> None:
    archive = warc("a.warc.gz", pages(120))
    lines = tmp_path / "b.jsonl"
    lines.write_text("".join(json.dumps({"url": f"{URL}b{n}", "html": html(n).decode()}) + "\n" for n in range(60, 99)))
    plain = run([archive, lines], "one.parquet", workers=1)
    assert plain.counts == (159, 0, 0, 0)
    assert plain.report.duplicates == {"content": 39}
    for workers, split in ((1, 2_000), (2, 1_000), (3, 5_000)):
        again = run([archive, lines], f"{workers}.parquet", workers=workers, split=split)
        assert again.records == plain.records


def test_the_order_of_pages_decides_only_which_duplicate_comes_first(run: Run, warc: Callable[..., Path]) -> None:
    given = pages(20) + [(f"{URL}copy{number}", html(number % 3)) for number in range(7)]
    shuffled = Random(1).sample(given, len(given))
    one, other = (run([warc(f"{name}.warc.gz", each)], name) for name, each in (("a", given), ("b", shuffled)))

    def unmarked(records: list[Record]) -> list[Record]:
        bare = [replace(each, duplicate=None, duplicate_of=None, source=None) for each in records]
        return sorted(bare, key=lambda record: record.url)

    assert unmarked(one.records) == unmarked(other.records)
    assert one.report.duplicates == other.report.duplicates == {"content": 7}


@pytest.mark.check
def test_a_false_start_of_a_member_in_a_split_is_read_again_from_the_true_one(
    run: Run, warc: Callable[..., Path]
) -> None:
    """A split begins at a record of an archive that is stored within the archive."""
    inner = warc("inner.warc.gz", pages(40)).read_bytes()
    outer = [(f"{URL}a", html(1)), (f"{URL}inner", inner), (f"{URL}b", html(2)), *pages(9)]
    stored = partial(gzip.compress, compresslevel=0)  # so that the inner archive is visible
    archive = warc("outer.warc.gz", outer, compress=stored)
    whole = run([archive], "whole.parquet", split=10**9)
    for split in (500, 1_000, 3_000):
        assert run([archive], f"{split}.parquet", split=split, workers=2).records == whole.records


def test_a_stopped_run_can_be_continued(run: Run, warc: Callable[..., Path]) -> None:
    archive = warc("a.warc.gz", pages(300))
    seen = 0

    def progress(report: Any) -> None:
        nonlocal seen
        seen = report.pages

    first = run([archive], split=3_000, progress=progress, stop=lambda: seen > 50)
    assert first.report.stopped
    assert 50 < first.report.indexed < 300
    assert len(first.records) == first.report.indexed
    second = run([archive], split=3_000)
    assert second.counts == (300 - first.report.indexed, first.report.indexed, 0, 0)
    assert [record.url for record in second.records] == [url for url, _ in pages(300)]


def test_a_capture_that_has_changed_is_replaced(run: Run, warc: Callable[..., Path]) -> None:
    run([warc("a.warc.gz", [(URL, html(1)), (f"{URL}b", html(2))])])
    changed = run([warc("b.warc.gz", [(URL, html(3)), (f"{URL}b", html(2))])])
    assert changed.counts == (1, 1, 0, 0)
    assert changed.report.replaced == 1
    assert sorted(str(record.title) for record in changed.records) == ["Page 2", "Page 3"]


# BeautifulSoup needs seconds for this page; the lxml extractor needs almost no time.
SLOW = b"<p>" + b"<b><i>slow</i></b>" * 60_000


@pytest.mark.check
def test_a_page_that_takes_too_long_fails_alone_and_can_be_tried_again(
    run: Run, warc: Callable[..., Path], tmp_path: Path
) -> None:
    lenient = Recipe(extractor="beautifulsoup")
    archive = warc("a.warc.gz", [*pages(5), (f"{URL}slow", SLOW), (f"{URL}after", html(7))])
    done = run([archive], recipe=lenient, cpu_seconds=0.5)
    assert done.counts == (6, 0, 0, 1)
    assert done.report.failed == {"took over 0.5 s of CPU time": 1}
    assert [each["url"] for each in done.failed] == [f"{URL}slow"]
    again = run([tmp_path / "records.parquet.failed.jsonl"])
    assert again.counts == (1, 0, 0, 0)
    assert again.failed == []
    assert len(again.records) == 7


def workers() -> list[int]:
    """Return the ids of the worker processes. Other children, such as the engine of other tests, are not among them."""
    return [process.pid for process in active_children() if process.pid]


@pytest.mark.check
def test_a_worker_that_is_killed_loses_only_its_current_page(run: Run, warc: Callable[..., Path]) -> None:
    archive = warc("a.warc.gz", [*pages(5), (f"{URL}slow", SLOW * 8), (f"{URL}after", html(7))])
    killed: list[int] = []

    def kill_the_busy_worker() -> bool:
        """Kill the worker that has used two seconds of CPU time: it has the slow page. Called many times a second."""
        for worker in () if killed else workers():
            ticks = sum(map(int, Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[11:13]))
            if ticks / os.sysconf("SC_CLK_TCK") > 2:
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)
        return False

    done = run([archive], recipe=Recipe(extractor="beautifulsoup"), stop=kill_the_busy_worker, cpu_seconds=600)
    assert killed
    assert done.counts == (6, 0, 0, 1)
    assert done.report.failed == {"its worker was killed, perhaps for want of memory": 1}


@pytest.mark.check
def test_workers_that_retire_are_replaced(warc: Callable[..., Path], tmp_path: Path) -> None:
    archive = warc("a.warc.gz", pages(40))
    job = Job(
        Recipe(), 10, PagesBeforeRun.listed(tmp_path).file, max_memory=1
    )  # each worker retires after its first task
    seen: set[int] = set()
    made: list[str] = []
    with Sources([str(archive)]) as sources, WorkerPool(2, job) as pool:
        for _, message in pool.work(splits(sources, 4_000), lambda: False):
            seen.update(workers())
            made.extend(record.url for record in message.results if isinstance(record, Record))
    assert made == [url for url, _ in pages(40)]
    assert len(seen) > 3


def test_a_source_that_was_deleted_does_not_end_the_run(run: Run, warc: Callable[..., Path]) -> None:
    here, gone = warc("a.warc.gz", pages(3)), warc("b.warc.gz", pages(9))
    size = gone.stat().st_size

    def remove() -> bool:
        """Delete a source. First called when the splits are planned, before anything is read."""
        gone.unlink(missing_ok=True)
        return False

    done = run([here, gone], stop=remove)
    assert done.counts == (3, 0, 0, 0)
    assert [(each.source, each.skipped) for each in done.report.damaged] == [(str(gone), size)]
    assert done.report.damaged[0].reason.startswith("FileNotFoundError")
    assert done.report.source_bytes == here.stat().st_size + size
    assert not done.report.stopped
