"""Figures of a store: counted by one thread, kept for a while, and never counted by a request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer
from time import monotonic, sleep

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.stores.store import StoreError
from opensearch_winnow.web.kept_figures import KeptFigures
from opensearch_winnow.web.server_threads import BusyError

PATIENCE = 60.0


class Counter:
    """Counts how often it has counted; holds on until the test lets it go."""

    def __init__(self) -> None:
        self.started, self.told = Event(), Event()
        self.times = 0

    def __call__(self, index: Index) -> int:
        self.times += 1
        times = self.times
        self.started.set()
        assert self.told.wait(PATIENCE)
        return 1000 * times + index.store.count()


@pytest.fixture
def index(known_file: Path) -> Iterator[Index]:
    with Index.open(known_file) as opened:
        yield opened


def kept(store: Path, counter: Counter, min_lifetime: float = 3_600) -> KeptFigures[int]:
    return KeptFigures(lambda: Index.open(store, create=False), counter, min_lifetime=min_lifetime)


def test_who_does_not_want_to_wait_is_told_so_and_one_thread_counts_for_all(known_file: Path, index: Index) -> None:
    counter = Counter()
    figures = kept(known_file, counter)
    for _ in range(3):
        with pytest.raises(BusyError, match="being counted"):
            figures.get(index, 0.05)
    counter.told.set()
    assert figures.get(index, PATIENCE) == figures.get(index, 0) == 1022
    assert counter.times == 1


def test_old_figures_are_given_while_new_ones_are_counted(known_file: Path, index: Index) -> None:
    counter = Counter()
    counter.told.set()
    figures = kept(known_file, counter, min_lifetime=0)
    assert figures.get(index, PATIENCE) == 1022
    sleep(0.1)
    counter.told.clear()
    counter.started.clear()
    end = monotonic() + PATIENCE
    while not counter.started.is_set() and monotonic() < end:  # they have expired after 20 times their counting time
        assert figures.get(index, 0) == 1022
        sleep(0.01)
    assert figures.get(index, 0) == 1022
    counter.told.set()
    while figures.get(index, 0) == 1022 and monotonic() < end:
        sleep(0.01)
    assert figures.get(index, 0) > 1022


def test_a_count_that_began_before_a_change_is_dropped(known_file: Path, index: Index) -> None:
    counter = Counter()
    figures = kept(known_file, counter)
    with pytest.raises(BusyError):
        figures.get(index, 0)
    assert counter.started.wait(PATIENCE)
    figures.expire()
    counter.told.set()
    assert figures.get(index, PATIENCE) == 2022


def test_figures_from_before_a_deletion_are_never_given(tmp_path: Path) -> None:
    """Neither the kept ones, nor those of a count that began before it, and ends after it."""
    path = tmp_path / "crawl.winnow"
    with Index.open(path) as index:
        index.add([Page(f"https://{name}.example/", text=f"The text of {name}") for name in "abcd"])
        counter = Counter()
        counter.told.set()
        figures = kept(path, counter)
        assert figures.get(index, PATIENCE) == figures.get(index, 0) == 1004
        index.delete("https://a.example/", erase=False)
        assert figures.get(index, PATIENCE) == figures.get(index, 0) == 2003
        counter.told.clear()
        counter.started.clear()
        figures.expire()
        with pytest.raises(BusyError):
            figures.get(index, 0)
        assert counter.started.wait(PATIENCE)
        index.delete("https://b.example/", erase=False)
        Timer(0.05, counter.told.set).start()
        assert figures.get(index, PATIENCE) == 4002


def test_the_reason_why_nothing_can_be_counted_is_given_to_each(tmp_path: Path, index: Index) -> None:
    figures = KeptFigures(lambda: Index.open(tmp_path / "gone.winnow", create=False), Index.statistics)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"gone\.winnow"):
            figures.get(index, PATIENCE)


def test_a_bug_in_counting_is_logged_and_not_waited_for(
    known_file: Path, index: Index, caplog: pytest.LogCaptureFixture
) -> None:
    def divide(_index: Index) -> float:
        return 1 / 0

    figures = KeptFigures(lambda: Index.open(known_file, create=False), divide)
    with pytest.raises(Exception, match="the log of winnow serve has the reason"):
        figures.get(index, PATIENCE)
    assert "ZeroDivisionError" in caplog.text
