"""winnow demo that is refused or stopped: it prints one sentence and leaves no files."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.engine.ports import free_port
from tests.cli.conftest import CLEAN, PATH, WINNOW

pytestmark = pytest.mark.check

Process = Callable[..., subprocess.CompletedProcess[bytes]]


def test_a_folder_that_cannot_be_created(process: Process, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = process("demo", "--to", "file/folder")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Not a directory: file/folder" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_opensearch_that_does_not_answer(process: Process, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    done = process("demo", "--to", "folder", "--store", f"{address}/demo")
    assert (done.returncode, done.stdout) == (2, b"")
    assert address.encode() in done.stderr
    assert b"Traceback" not in done.stderr
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_store_with_other_pages_is_left_alone(process: Process, crawl: Path) -> None:
    with Index.open(crawl, create=False) as index:
        before = list(index.store.scan(Record))
    done = process("demo", "--to", "folder", "--store", crawl)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"that the demo did not add" in done.stderr
    with Index.open(crawl, create=False) as index:
        assert list(index.store.scan(Record)) == before


def test_a_foreign_page_in_the_store_of_the_demo(process: Process, tmp_path: Path) -> None:
    with Index.open(tmp_path / "demo.winnow") as index:
        index.add([Page("http://example.org/", text="my own page")], crawl="mine")
    done = process("demo", "--to", ".")
    assert done.returncode == 2
    assert b"demo.winnow has 1 page that the demo did not add" in done.stderr


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_stopped_while_modules_are_imported(tmp_path: Path, sent: signal.Signals) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [str(WINNOW), "demo", "--to", "folder"]
    settings = CLEAN | {"PATH": PATH, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, cwd=tmp_path, env=settings, stderr=subprocess.PIPE) as demo:
        assert demo.stderr is not None
        while not list(scratch.glob("winnow-demo-*/*.html")):  # some modules are rendered, and others are in progress
            assert demo.poll() is None
            time.sleep(0.01)
        ours = psutil.Process(demo.pid).children(recursive=True)
        demo.send_signal(sent)
        said = demo.stderr.read().decode()
    assert demo.returncode == 130
    assert "Stopped" in said
    assert "winnow demo --to folder" in said
    assert "Traceback" not in said
    _, alive = psutil.wait_procs(ours, timeout=10)
    assert alive == []
    assert list(scratch.iterdir()) == []


def test_a_python_without_pydoc(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    program = f"import sys; sys.executable = {str(python)!r}; from opensearch_winnow.cli import main; main(['demo'])"
    done = subprocess.run(
        [sys.executable, "-c", program], env=CLEAN | {"TMPDIR": str(tmp_path)}, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{python} cannot run pydoc".encode() in done.stderr
