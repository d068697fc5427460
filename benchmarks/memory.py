"""Memory for the fingerprints of a long text, including the text itself and the spans."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.corpus import source, text
from benchmarks.table import Run, Table
from opensearch_winnow import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

CHARACTERS = 1_000_000_000
ROOM = 12  # bytes of the machine's memory for each character: half as much again as is taken
SAMPLE = 5_000_000
BYTES = 1 if sys.platform == "darwin" else 1024  # the unit of ru_maxrss


def tables(run: Run) -> Iterator[Table]:
    """In a process of its own, whose peak nothing else has raised."""
    length = min(run.size(CHARACTERS, least=100_000), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // ROOM)
    command = [sys.executable, "-m", "benchmarks.memory", str(length)]
    steps = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    yield Table(
        f"A text of {length / 1e6:,.1f} million ASCII characters",
        ("after", "peak, MB", "bytes a character", "seconds"),
        [(name, f"{peak / 1e6:,.0f}", f"{peak / length:.2f}", f"{taken:.1f}") for name, peak, taken in steps],
        f"Limit: seven bytes per character. {source()[:-1]}, repeated to this length.",
    )


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * BYTES


def measure(length: int) -> list[tuple[str, int, float]]:
    steps = [("the start", peak(), 0.0)]
    sample = text(min(length, SAMPLE)).encode("ascii", "ignore").decode()
    start = time.process_time()

    def step(name: str) -> None:
        nonlocal start
        now = time.process_time()
        steps.append((name, peak(), now - start))
        start = now

    whole = sample * (length // len(sample))
    step("the text is made")
    prints = fingerprint(whole)
    step(f"fingerprint(text), {len(prints):,} of them")
    assert len(prints.spans) == len(prints)
    step("their .spans")
    return steps


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
