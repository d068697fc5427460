"""The functions of the core let go of the GIL: threads that share their inputs get the results that one thread gets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

from opensearch_winnow.cython_core.canonical_text import canonical_text
from tests.cython_core.core_calls import CALLS, WIDE

THREADS = 8
ROUNDS = 3


def test_eight_threads_get_the_results_of_one() -> None:
    expected = {name: call() for name, call in CALLS.items()}
    barrier = Barrier(THREADS)

    def work(seed: int) -> list[str]:
        names = [name for name in CALLS for _ in range(ROUNDS)]
        Random(seed).shuffle(names)  # different functions run at once, and the same one too
        barrier.wait()
        return [name for name in names if CALLS[name]() != expected[name]]

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(work, range(THREADS))) == [[]] * THREADS


def test_offsets_computed_by_several_threads_at_once_are_the_same_array() -> None:
    canonical = canonical_text(WIDE)
    barrier = Barrier(THREADS)

    def offsets(_: int) -> int:
        barrier.wait()
        return id(canonical.offsets)

    with ThreadPoolExecutor(THREADS) as pool:
        assert len(set(pool.map(offsets, range(THREADS)))) == 1
    assert canonical.offsets == canonical_text(WIDE).offsets
