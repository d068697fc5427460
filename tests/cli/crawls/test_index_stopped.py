"""winnow index into a store, stopped in the middle by a signal, a kill or a full disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.records import read_records
from opensearch_winnow.stores.embedded import EmbeddedStore

pytestmark = pytest.mark.check

Process = Callable[..., subprocess.CompletedProcess[bytes]]
WINNOW = str(Path(sys.executable).with_name("winnow"))
URL = "http://example.org/"
PAGES = 500


def prose(seed: int, words: int) -> str:
    source = Random(seed)
    return " ".join("".join(source.choices("abcdefghij", k=source.randint(2, 9))) for _ in range(words))


def counted(done: subprocess.CompletedProcess[bytes]) -> tuple[int, ...]:
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return tuple(answer[name] for name in ("indexed", "unchanged", "skipped", "failed"))


def stored(path: Path) -> list[Record]:
    with EmbeddedStore.open(path) as store:
        return list(store.scan(Record))


def exported(process: Process, folder: Path, store: str) -> list[Record]:
    out = f"{store}.parquet"
    assert process("export", "--store", store, "--to", out, "--overwrite").returncode == 0
    return sorted(read_records(folder / out), key=lambda record: record.id)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Pages that BeautifulSoup parses slowly; each text is on two of them."""
    path = tmp_path / "pages.jsonl"
    slow = "<b><i>slow</i></b> to parse " * 60
    with path.open("w") as file:
        for number in range(PAGES):
            html = f"<p>{slow}{prose(number // 2, 40)}"
            file.write(json.dumps({"url": f"{URL}{number}", "html": html}) + "\n")
    return path


def start(folder: Path, *arguments: str | Path, **environment: str) -> subprocess.Popen[bytes]:
    command = [WINNOW, "index", *arguments, "--workers", "2", "--extractor", "beautifulsoup"]
    return subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
        start_new_session=True,
    )


def wait_for_pages(store: Path, run: subprocess.Popen[bytes]) -> int:
    """Wait until the first pages are stored, and return how many there are."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and run.poll() is None:
        if store.exists():
            with EmbeddedStore.open(store) as opened:
                if count := opened.count():
                    return count
        time.sleep(0.02)
    pytest.fail("nothing was stored while it ran")


SMALL_BATCHES_SCRIPT = """
import sys
from opensearch_winnow.stores import destination
destination.MAX_BATCH_RECORDS = 20
"""


@pytest.fixture
def small_batches(tmp_path: Path) -> dict[str, str]:
    """Environment variables that limit a batch to twenty records."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SMALL_BATCHES_SCRIPT)
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))}


def test_a_killed_run_continues_and_ends_with_the_same_records(
    process: Process, many: Path, tmp_path: Path, small_batches: dict[str, str]
) -> None:
    whole = process("index", many, "--store", "whole.winnow", "--extractor", "beautifulsoup", "--json")
    assert counted(whole) == (PAGES, 0, 0, 0)
    run = start(tmp_path, many, "--store", "a.winnow", **small_batches)
    seen = wait_for_pages(tmp_path / "a.winnow", run)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    kept = len(stored(tmp_path / "a.winnow"))
    assert seen <= kept < PAGES
    again = process("index", many, "--store", "a.winnow", "--json")
    assert counted(again) == (PAGES - kept, kept, 0, 0)
    assert exported(process, tmp_path, "a.winnow") == exported(process, tmp_path, "whole.winnow")


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_has_stored_every_page_it_counted(
    process: Process, many: Path, tmp_path: Path, signal_: signal.Signals, small_batches: dict[str, str]
) -> None:
    run = start(tmp_path, many, "--store", "a.winnow", "--json", **small_batches)
    wait_for_pages(tmp_path / "a.winnow", run)
    run.send_signal(signal_)
    out, said = run.communicate(timeout=60)
    assert run.returncode == 130, (out, said)
    assert b"run the same command again to continue" in said
    kept = len(stored(tmp_path / "a.winnow"))
    assert json.loads(out)["indexed"] == kept
    assert 0 < kept < PAGES
    assert counted(process("index", many, "--store", "a.winnow", "--json")) == (PAGES - kept, kept, 0, 0)
    process("index", many, "--store", "whole.winnow", "--extractor", "beautifulsoup")
    assert exported(process, tmp_path, "a.winnow") == exported(process, tmp_path, "whole.winnow")


def test_a_full_disk_is_reported_with_the_number_of_stored_pages(
    process: Process, tmp_path: Path, small_batches: dict[str, str]
) -> None:
    with (tmp_path / "pages.jsonl").open("w") as file:
        for number in range(400):
            file.write(json.dumps({"url": f"{URL}{number}", "text": prose(number, 400)}) + "\n")
    limited = 'trap "" XFSZ; ulimit -f 1500; exec "$0" index pages.jsonl --store a.winnow --workers 1'
    environment = os.environ | small_batches
    done = subprocess.run(
        ["bash", "-c", limited, WINNOW], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    kept = len(stored(tmp_path / "a.winnow"))
    assert (done.returncode, done.stdout) == (2, b""), done.stderr
    assert 0 < kept < 400
    assert f"{kept:,} pages of this run are stored, and running it again continues there" in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert counted(process("index", "pages.jsonl", "--store", "a.winnow", "--json")) == (400 - kept, kept, 0, 0)


def test_records_do_not_depend_on_workers_or_batches(
    process: Process, many: Path, tmp_path: Path, small_batches: dict[str, str]
) -> None:
    process("index", many, "--store", "a.winnow", "--workers", "1")
    process("index", many, "--store", "b.winnow", "--workers", "3", **small_batches)
    assert stored(tmp_path / "a.winnow") == stored(tmp_path / "b.winnow")
