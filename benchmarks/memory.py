"""Memory for the fingerprints of a long text, including the text itself and the spans."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.corpus import source, text
from benchmarks.own_process import in_own_process, peak_memory
from benchmarks.table import Run, Table
from opensearch_winnow import fingerprint

CHARACTERS = 1_000_000_000
MACHINE_BYTES_PER_CHAR = 12  # memory of the machine for each character, 1.5 times what is used
SAMPLE = 5_000_000

Steps = list[tuple[str, int, float]]  # what was done, the peak in bytes after it, and its CPU seconds


def tables(run: Run) -> Iterator[Table]:
    length = min(
        run.size(CHARACTERS, least=100_000),
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MACHINE_BYTES_PER_CHAR,
    )
    steps, _ = in_own_process(measuring, length)
    yield Table(
        f"A text of {length / 1e6:,.1f} million ASCII characters",
        ("after", "peak, MB", "bytes a character", "seconds"),
        [(name, f"{peak / 1e6:,.0f}", f"{peak / length:.2f}", f"{taken:.1f}") for name, peak, taken in steps],
        f"Limit: seven bytes per character. {source()[:-1]}, repeated to this length.",
    )


def measuring(length: int) -> Callable[[], Steps]:
    sample = text(min(length, SAMPLE)).encode("ascii", "ignore").decode()
    return partial(measure, sample, length)


def measure(sample: str, length: int) -> Steps:
    steps = [("the start", peak_memory(), 0.0)]
    start = time.process_time()

    def step(name: str) -> None:
        nonlocal start
        now = time.process_time()
        steps.append((name, peak_memory(), now - start))
        start = now

    whole = sample * (length // len(sample))
    step("the text is made")
    prints = fingerprint(whole)
    step(f"fingerprint(text), {len(prints):,} of them")
    assert len(prints.spans) == len(prints)
    step("their .spans")
    return steps
