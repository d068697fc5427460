"""Threads that share one index on a file."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from opensearch_winnow import Index, Page
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record

WORDS = ["".join(Random(number).choices("abcdefghij", k=6)) for number in range(200)]
THREADS = 6


def page(number: int) -> Page:
    return Page(f"http://example.org/{number}", text=" ".join(Random(number // 2).choices(WORDS, k=120)))


def test_threads_that_share_an_index_get_the_answers_of_one(tmp_path: Path) -> None:
    with Index.open(tmp_path / "crawl.winnow") as index, ThreadPoolExecutor(THREADS) as threads:
        index.add(map(page, range(40)))
        questions: list[Callable[[], object]] = [
            lambda: index.search(WORDS[3], group=True).hits,
            lambda: index.search(WORDS[5]).hits,
            lambda: index.similar(url="http://example.org/8").matches,
            lambda: sorted(record.id for record in index.store.scan(Record)),
            lambda: list(index.store.scan(Card, limit=5)),
            lambda: index.statistics().frequencies,
            lambda: index.search(cursor=index.search(f"{WORDS[3]} OR {WORDS[4]}", limit=2, stable=True).cursor).hits,
        ]
        right = [str(ask()) for ask in questions]
        answers = list(threads.map(lambda ask: str(ask()), questions * 8))
    assert answers == right * 8


def test_threads_that_read_and_write_one_index(tmp_path: Path) -> None:
    def work(number: int) -> None:
        if number % 3 == 0:
            batch = number // 3
            report = index.add(map(page, range(batch * 10, batch * 10 + 10)), failed=tmp_path / f"{number}.jsonl")
            assert report.indexed + report.unchanged == 10
        elif number % 3 == 1:
            index.search(WORDS[number % 200], group=True)
        else:
            index.store.settings.set({f"n{number}": number})

    with Index.open(tmp_path / "crawl.winnow") as index, ThreadPoolExecutor(THREADS) as threads:
        index.add([page(0)])
        list(threads.map(work, range(36)))
        assert index.store.count() == 120
        assert len(index.store.settings.with_prefix("n")) == 12
