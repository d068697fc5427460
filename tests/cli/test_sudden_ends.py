"""Commands that write to a store file, killed at any moment or on a disk that fails: nothing acknowledged is lost."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from errno import EIO, ENOSPC
from pathlib import Path
from random import Random

import pytest

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded import EmbeddedStore
from tests.cli.conftest import CLEAN, WINNOW, json_lines
from tests.cli.crawls.conftest import pages_in
from tests.meaningless_text import sentences
from tests.stores.embedded.store_files import rows
from tests.stores.store_questions import search

PAGES = 300
STORED = re.compile(r"([\d,]+) pages of this run are stored")
SMALL_BATCHES = """
import os
from opensearch_winnow.operations.clusters import clustering
from opensearch_winnow.stores import store_writer
store_writer.MAX_BATCH_RECORDS = clustering.BATCH_SIZE = int(os.environ.get("TEST_BATCH", "20"))
"""


@dataclass
class Job:
    """A command that changes the store crawl.winnow of a folder, and the store before it and after it."""

    command: Sequence[str | Path]
    environment: dict[str, str]
    before: Path | None
    after: Path
    seconds: float = 0.0

    def start(self, folder: Path, **environment: str) -> subprocess.Popen[str]:
        if self.before and not (folder / "crawl.winnow").exists():
            shutil.copy(self.before, folder / "crawl.winnow")
        return subprocess.Popen(
            self.command,
            cwd=folder,
            env=CLEAN | self.environment | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def finish(self, folder: Path) -> None:
        with self.start(folder) as run:
            said = run.communicate(timeout=300)[1]
        assert run.returncode == 0, said


def stored(path: Path) -> dict[str, Record]:
    """Return the records of a store by id, after checking that each is there once, and found by its words."""
    with EmbeddedStore.open(path) as store:
        records = list(store.scan(Record))
        by_id = {record.id: record for record in records}
        assert len(by_id) == len(records) == store.count()
        assert search(store, Words.of("every"), limit=1).total == len(records)
    with rows(path) as there:
        assert there.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return by_id


def without_clusters(records: dict[str, Record]) -> dict[str, Record]:
    return {id_: replace(record, cluster="-") for id_, record in records.items()}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Job]:
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(SMALL_BATCHES)
    path = os.pathsep.join(filter(None, [str(folder / "site"), os.environ.get("PYTHONPATH")]))
    texts = [f"every {sentences(100, number // 3)} {number % 3}" for number in range(PAGES)]
    rows_of_pages = ({"url": f"http://example.org/{number}", "text": text} for number, text in enumerate(texts))
    pages = json_lines(folder / "pages.jsonl", *rows_of_pages)
    index: list[str | Path] = [WINNOW, "index", pages, "--store", "crawl.winnow", "--workers", "1", "-q"]
    cluster: list[str | Path] = [WINNOW, "cluster", "--store", "crawl.winnow", "--work", ".", "--threads", "1", "-q"]
    indexed, clustered = folder / "indexed.winnow", folder / "clustered.winnow"
    found = {
        "index": Job(index, {"PYTHONPATH": path}, None, indexed),
        "cluster": Job(cluster, {"PYTHONPATH": path}, indexed, clustered),
    }
    for name, job in found.items():
        (folder / name).mkdir()
        start = time.monotonic()
        job.finish(folder / name)
        job.seconds = time.monotonic() - start
        shutil.copy(folder / name / "crawl.winnow", job.after)
    assert len(stored(indexed)) == PAGES
    with EmbeddedStore.open(clustered) as store:
        assert len({card.cluster for card in store.scan(Card)}) == PAGES // 3
    return found


def end_and_resume(job: Job, folder: Path, run: Callable[[Path], int]) -> None:
    """Let `run` end a job at some moment and return how many pages were acknowledged; check them, and run it again."""
    right = stored(job.after)
    acknowledged = run(folder)
    if (folder / "crawl.winnow").exists():
        kept = stored(folder / "crawl.winnow")
        assert len(kept) >= acknowledged
        whole = without_clusters(right)
        assert all(whole[id_] == record for id_, record in without_clusters(kept).items())
    else:
        assert acknowledged == 0
    job.finish(folder)
    assert stored(folder / "crawl.winnow") == right
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".winnow")] == ["crawl.winnow"]


def kill(job: Job, seed: int) -> Callable[[Path], int]:
    def run(folder: Path) -> int:
        with job.start(folder) as process:
            time.sleep(Random(seed).random() * job.seconds)
            seen = pages_in(folder / "crawl.winnow") if job.before is None else PAGES
            os.killpg(process.pid, signal.SIGKILL)
        return seen

    return run


@pytest.mark.check
@pytest.mark.parametrize("name", ["index", "cluster"])
def test_killed_at_some_moments(jobs: dict[str, Job], tmp_path: Path, name: str) -> None:
    for seed in range(4):
        (tmp_path / str(seed)).mkdir()
        end_and_resume(jobs[name], tmp_path / str(seed), kill(jobs[name], seed))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 300))
@pytest.mark.parametrize("name", ["index", "cluster"])
def test_killed_at_200_moments(jobs: dict[str, Job], tmp_path: Path, name: str, seed: int) -> None:
    end_and_resume(jobs[name], tmp_path, kill(jobs[name], seed))


# --- a disk that fails ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory, root: Path) -> dict[str, str]:
    """Environment variables that make writes fail: see faulty_files.c."""
    library = tmp_path_factory.mktemp("faulty") / "faulty_files.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, root / "tests" / "faulty_files.c", "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "TEST_BATCH": "100"}  # larger batches have fewer writes, which all fail once


def count_writes(job: Job, faulty: dict[str, str], folder: Path) -> int:
    """Return how many writes the process with the most of them makes."""
    counted, counts = folder / "counted", folder / "counts"
    counted.mkdir()
    with job.start(counted, **faulty, FAULT_FOLDER=str(counted), FAULT_COUNTED=str(counts)) as run:
        run.communicate(timeout=300)
    return max(map(int, counts.read_text().split()))


def fail(job: Job, faulty: dict[str, str], at: int, errno: int, stays: str) -> Callable[[Path], int]:
    def run(folder: Path) -> int:
        fault = {"FAULT_AT": str(at), "FAULT_ERRNO": str(errno), "FAULT_STAYS": stays}
        with job.start(folder, **faulty, **fault, FAULT_FOLDER=f"{folder}/crawl.winnow") as process:
            said = process.communicate(timeout=300)[1]
        assert process.returncode in (0, 2), said
        assert "Traceback" not in said, said
        if process.returncode == 0:
            return PAGES
        assert re.search(r"no space left|cannot be (written|read|created|looked up)", said), said
        counted = STORED.search(said)
        return int(counted[1].replace(",", "")) if counted else 0

    return run


def every_fault(job: Job, faulty: dict[str, str], folder: Path, step: int) -> int:
    """Fail one write after the other, about `step` of them, and return how many."""
    writes = count_writes(job, faulty, folder)
    assert writes > 20
    places = range(1, writes + 1, max(writes // step, 1))
    for at in places:
        errno, stays = (ENOSPC, "1") if at % 2 else (EIO, "0")
        (folder / str(at)).mkdir()
        try:
            end_and_resume(job, folder / str(at), fail(job, faulty, at, errno, stays))
        except BaseException as error:
            error.add_note(f"write {at} of {writes}, error {errno}")
            raise
        shutil.rmtree(folder / str(at))
    return len(places)


@pytest.mark.check
def test_a_disk_that_is_full_or_broken(jobs: dict[str, Job], faulty: dict[str, str], tmp_path: Path) -> None:
    every_fault(jobs["index"], faulty, tmp_path, 7)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["index", "cluster"])
def test_each_write_to_a_store_fails(
    jobs: dict[str, Job], faulty: dict[str, str], tmp_path: Path, name: str, record_property: Callable[[str, int], None]
) -> None:
    record_property("writes", every_fault(jobs[name], faulty, tmp_path, sys.maxsize))
