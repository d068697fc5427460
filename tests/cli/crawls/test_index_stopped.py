"""winnow index, stopped in the middle by a signal, a kill or a full disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.records import read_records
from tests.cli.conftest import WINNOW, Process, json_lines, started, wait_until
from tests.cli.crawls.conftest import URL, counted, pages_in, prose, stored

pytestmark = pytest.mark.check

PAGES = 500
SLOWLY = ("--workers", "2", "--extractor", "beautifulsoup")


def exported(process: Process, folder: Path, store: str) -> list[Record]:
    out = f"{store}.parquet"
    assert process("export", "--store", store, "--to", out, "--overwrite").returncode == 0
    return sorted(read_records(folder / out), key=lambda record: record.id)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Pages that BeautifulSoup parses slowly; each text is on two of them."""
    html = f"<p>{'<b><i>slow</i></b> to parse ' * 60}"
    rows = ({"url": f"{URL}{number}", "html": f"{html}{prose(number // 2, 40)}"} for number in range(PAGES))
    return json_lines(tmp_path / "pages.jsonl", *rows)


@pytest.fixture
def small_batches(tmp_path: Path) -> dict[str, str]:
    """Environment variables that limit a batch to twenty records."""
    folder = tmp_path / "site"
    folder.mkdir()
    limit = "from opensearch_winnow.stores import store_writer\nstore_writer.MAX_BATCH_RECORDS = 20\n"
    (folder / "sitecustomize.py").write_text(limit)
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))}


def test_a_killed_run_continues_and_ends_with_the_same_records(
    process: Process, many: Path, tmp_path: Path, small_batches: dict[str, str]
) -> None:
    whole = process("index", many, "--store", "whole.winnow", "--extractor", "beautifulsoup", "--json")
    assert counted(whole) == (PAGES, 0, 0, 0)
    store = tmp_path / "a.winnow"
    run = started(tmp_path, "index", many, "--store", store, *SLOWLY, session=True, environment=small_batches)
    wait_until(lambda: pages_in(store), run)
    seen = pages_in(store)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    kept = len(stored(store))
    assert 0 < seen <= kept < PAGES
    assert counted(process("index", many, "--store", store, "--json")) == (PAGES - kept, kept, 0, 0)
    assert exported(process, tmp_path, "a.winnow") == exported(process, tmp_path, "whole.winnow")


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_has_stored_every_page_it_counted(
    process: Process, many: Path, tmp_path: Path, signal_: signal.Signals, small_batches: dict[str, str]
) -> None:
    store = tmp_path / "a.winnow"
    run = started(tmp_path, "index", many, "--store", store, "--json", *SLOWLY, session=True, environment=small_batches)
    wait_until(lambda: pages_in(store), run)
    run.send_signal(signal_)
    out, said = run.communicate(timeout=60)
    assert run.returncode == 130, (out, said)
    assert b"run the same command again to continue" in said
    kept = len(stored(store))
    assert 0 < json.loads(out)["indexed"] == kept < PAGES
    assert counted(process("index", many, "--store", store, "--json")) == (PAGES - kept, kept, 0, 0)
    process("index", many, "--store", "whole.winnow", "--extractor", "beautifulsoup")
    assert exported(process, tmp_path, "a.winnow") == exported(process, tmp_path, "whole.winnow")


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_has_written_a_record_file(
    process: Process, many: Path, tmp_path: Path, signal_: signal.Signals
) -> None:
    lines = many.read_text()
    many.write_text("".join(lines.replace(URL, f"{URL}{n}/") for n in range(8)))
    run = started(tmp_path, "index", many, "--to", "r.parquet", "--workers", "1", "--extractor", "beautifulsoup")
    wait_until(lambda: any(tmp_path.glob(".r.parquet*")), run)
    time.sleep(1.5)
    run.send_signal(signal_)
    out, said = run.communicate(timeout=60)
    assert (run.returncode, b"run the same command again to continue" in said) == (130, True), (out, said)
    kept = len(list(read_records(tmp_path / "r.parquet")))
    assert 0 <= kept < 8 * PAGES
    assert counted(process("index", many, "--to", "r.parquet", "--json")) == (8 * PAGES - kept, kept, 0, 0)


def test_a_full_disk_is_reported_with_the_number_of_stored_pages(
    process: Process, tmp_path: Path, small_batches: dict[str, str]
) -> None:
    json_lines(
        tmp_path / "pages.jsonl", *({"url": f"{URL}{number}", "text": prose(number, 400)} for number in range(400))
    )
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
