"""All pairs of a set of programs: how long `winnow pairs` takes, by part, and how much memory."""

from __future__ import annotations

import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.own_process import in_own_process
from benchmarks.table import Run, Table
from opensearch_winnow.operations.sets.pairs import pairs
from opensearch_winnow.queries.sets.pair_finder import COMPARING, READING, SCORING
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile

LINES = 100  # of a program
COPIES = 20  # of this many programs, one is followed by a copy with other names
SIZES = (100, 1_000, 5_000)


def tables(run: Run) -> Iterator[Table]:
    rows = []
    for size in SIZES:
        cells, taken = in_own_process(comparison, run.size(size, least=10))
        rows.append((*cells, f"{taken.cpu:.1f}", f"{taken.memory / 1e6:.0f}"))
    yield Table(
        "Programs of 100 lines, all pairs",
        ("programs", "pairs", "found", "tokens s", "scores s", "passages s", "in all s", "memory MB"),
        rows,
        f"CPU seconds of one process. The programs are pieces of {LINES} lines of Python's standard library; one in"
        f" {COPIES} is followed by a copy with other names. Found: pairs with a similarity at the default threshold or"
        " above, all with their passages. Aim: 1,000 programs in less than a minute.",
    )


def programs(count: int) -> list[Document]:
    """Return pieces of the standard library, the same in every run."""
    found: list[Document] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for start in range(0, len(lines) - LINES, LINES):
            if len(found) >= count:
                return found[:count]
            piece = "\n".join(lines[start : start + LINES])
            found.append(document(f"{path.name}:{start}:{len(found)}", piece))
            if len(found) % COPIES == 0:
                found.append(document(f"copy:{len(found)}", piece.replace("self", "this").replace("name", "label")))
    return found


def document(name: str, text: str) -> Document:
    return Document(name, (DocumentFile("program.py", text),))


def comparison(count: int) -> Callable[[], tuple[str, ...]]:
    """Return a function that compares `count` programs, and returns the counts and the seconds of each part."""
    documents = programs(count)

    def compare() -> tuple[str, ...]:
        seconds = dict.fromkeys((READING, SCORING, COMPARING), 0.0)
        last, since = READING, time.process_time()

        def progress(phase: str, _done: int, _total: int | None) -> None:
            nonlocal last, since
            now = time.process_time()
            seconds[last] += now - since
            last, since = phase, now

        found = pairs(documents, progress=progress)
        progress(last, 0, None)
        counts = [f"{number:,}" for number in (len(documents), found.compared, found.total)]
        return (*counts, *(f"{each:.1f}" for each in seconds.values()))

    return compare
