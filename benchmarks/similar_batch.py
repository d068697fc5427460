"""Many questions of similarity: a process for each, one after the other in a process, and as a batch, on both stores.

The pages of two releases of a manual are stored, and those of a third are the questions.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil

from benchmarks.table import Run, Table
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port

MANUAL, STORED, ASKED = "postgresql-doc-13-15-17", ("13", "15"), "17"
QUESTIONS = 1_000
PROCESSES = 5  # the others would take as long
ROUNDS = 2
PASSAGE_WORDS, SHORT_CHARS = 80, 100
NOTE = (
    "CPU is that of our process, and on OpenSearch that of the engine beside it; the better of two rounds, in turns."
    f" The time of {PROCESSES} processes, scaled. A short question has {SHORT_CHARS} letters and digits, fewer than the"
    " guarantee: it is also searched for by its words. Every way gives the same answers."
)


class Took(NamedTuple):
    seconds: float
    cpu: float
    engine: float

    def __sub__(self, other: Took) -> Took:
        return Took(*(one - another for one, another in zip(self, other, strict=True)))


def tables(run: Run) -> Iterator[Table]:
    count = run.size(QUESTIONS, 20)
    with TemporaryDirectory(prefix="winnow-bench-") as folder, unpacked_data() as unpacked:
        release = unpacked(MANUAL)
        questions = questions_of(release / ASKED, count)
        rows: list[tuple[str, ...]] = []
        pages = 0
        with on_engine(Path(folder)) as (address, engine):
            for kind, store, clock in (
                ("a file", str(Path(folder, "crawl.winnow")), lambda: 0.0),
                ("OpenSearch", address, engine),
            ):
                with Index.open(store) as index:
                    index.index([str(release / each) for each in STORED])
                    pages = index.store.count()
                    for name, texts in questions.items():
                        rows += measured(kind, name, index, texts, clock, min(PROCESSES, count))
    yield Table(
        f"{count:,} questions to {pages:,} pages",
        ("store", "questions", "way", "seconds", "CPU s", "engine CPU s", "CPU, of a loop"),
        rows,
        NOTE,
    )


def measured(
    kind: str, name: str, index: Index, texts: list[str], engine: Callable[[], float], processes: int
) -> Iterator[tuple[str, ...]]:
    answers: dict[str, list[object]] = {}

    def loop() -> None:
        answers["loop"] = [shown(index.similar(text=text)) for text in texts]

    def batch() -> None:
        answers["batch"] = [shown(found) for _, found in index.similar_batch(texts) if isinstance(found, Matches)]

    def each_a_process() -> None:
        for text in texts[:processes]:
            command = [sys.executable, "-m", "benchmarks.similar_batch", index.name]
            subprocess.run(
                command, input=text.encode(), check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    taken: dict[str, list[Took]] = {"a loop": [], "a batch": []}
    batch()  # an engine compiles its code first
    for _ in range(ROUNDS):
        taken["a loop"].append(timed(loop, engine))
        taken["a batch"].append(timed(batch, engine))
    assert answers["loop"] == answers["batch"]
    single = timed(each_a_process, engine)
    taken = {"a process each": [Took(*(part * len(texts) / processes for part in single))], **taken}
    looped = min(each.cpu + each.engine for each in taken["a loop"])
    for way, rounds in taken.items():
        best = min(rounds, key=lambda each: each.cpu + each.engine)
        engine_cpu = f"{best.engine:,.1f}" if best.engine else ""
        ratio = f"{(best.cpu + best.engine) / looped:,.2f} ×"
        yield kind, name, way, f"{median(each.seconds for each in rounds):,.1f}", f"{best.cpu:,.1f}", engine_cpu, ratio


def shown(found: Matches) -> object:
    return found.total, [(each.card.id, each.resemblance, each.containment, each.passages) for each in found]


def timed(work: Callable[[], None], engine: Callable[[], float]) -> Took:
    def now() -> Took:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return Took(time.perf_counter(), sum(each.ru_utime + each.ru_stime for each in used), engine())

    start = now()
    work()
    return now() - start


def questions_of(folder: Path, count: int) -> dict[str, list[str]]:
    """Return pages, passages and short passages of a release."""
    maker, random = RecordMaker(Recipe()), Random("questions")
    made = (maker.make(Page(path.as_uri(), html=path.read_bytes())) for path in sorted(folder.rglob("*.html")))
    pages = [record.text for record in made if isinstance(record, Record)]
    long = [text for text in pages if len(text.split()) > 2 * PASSAGE_WORDS]

    def passage() -> str:
        words = random.choice(long).split()
        start = random.randrange(len(words) - PASSAGE_WORDS)
        return " ".join(words[start : start + PASSAGE_WORDS])

    def short() -> str:
        whole = canonical(passage(), Scheme())
        return whole.text[slice(*whole.span(0, min(SHORT_CHARS, len(whole.chars))))]

    return {
        "whole pages": random.sample(pages, min(count, len(pages))),
        f"passages of {PASSAGE_WORDS} words": [passage() for _ in range(count)],
        "short passages": [short() for _ in range(count)],
    }


@contextmanager
def on_engine(folder: Path) -> Iterator[tuple[str, Callable[[], float]]]:
    engine = LocalEngine(folder / "engine")
    running = engine.start(heap="1g", port=free_port(), owner=os.getpid())
    process = psutil.Process(running.nodes[0].pid)
    try:
        yield f"{running.url}/pages", lambda: sum(process.cpu_times()[:2])
    finally:
        engine.stop()


def main() -> None:
    """Answer one question as the command does: the text is piped in."""
    from opensearch_winnow.cli import main as winnow  # noqa: PLC0415

    winnow(["similar", "--file", "-", "--store", sys.argv[1], "--json"], standalone_mode=False)


if __name__ == "__main__":
    main()
