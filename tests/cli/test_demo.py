"""winnow demo: indexes and clusters pages that are already on this machine, and runs commands on them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from opensearch_winnow import Index
from opensearch_winnow.cli.demo.pydoc_pages import PROCESS, pydoc_pages
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.types import Record
from tests.cli.conftest import CLEAN, PATH, WINNOW

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("demo")]  # on one worker, so that the demo runs once

PAGES = "60"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
MODULES = {
    "well": '"""A module that is as it should be."""',
    "prints": "print('a poem')",
    "broken": "1 / 0",
    "leaves": "raise SystemExit(0)",
    "dies": "import os; os.kill(os.getpid(), 9)",
    "hangs": "import time\nwhile True: time.sleep(1)",
    "this": "open('imported', 'w')",
}

OnTerminal = Callable[..., tuple[int, str]]


def run(folder: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    settings = CLEAN | {"PATH": PATH, "TMPDIR": str(folder)} | environment
    command = [WINNOW, "demo", *arguments]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, check=False)


class Demo(NamedTuple):
    folder: Path
    said: dict[str, Any]
    records: dict[str, Record]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A small demo, run once for all tests."""
    folder = tmp_path_factory.mktemp("demo")
    done = run(folder, "--to", "made here", "--pages", PAGES, "--json", WINNOW_STORE="somebody-elses.winnow")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()
    said = json.loads(done.stdout)
    with Index.open(folder / said["store"], create=False) as index:
        return Demo(folder, said, {record.url: record for record in index.records()})


def test_the_documentation_and_licences_of_this_machine_are_indexed(demo: Demo) -> None:
    said, records = demo.said, demo.records
    assert 0.7 * int(PAGES) <= said["pages"] + len(said["left_out"]) <= int(PAGES)
    assert len(records) == said["pages"] == said["indexed"] == said["modules"] + said["licences"]
    assert (said["unchanged"], said["skipped"], said["failed"]) == (0, 0, 0)
    assert min(said["modules"], said["licences"], said["clustering"]["clusters"]) > 1
    assert {record.site for record in records.values()} == {"pydoc.example", "licences.example"}
    assert all(record.fetched_at for record in records.values())
    assert [path.name for path in (demo.folder / "made here").iterdir()] == ["demo.winnow"]
    assert [path.name for path in demo.folder.iterdir()] == ["made here"]


def test_pages_contain_no_memory_addresses_and_no_environment(demo: Demo) -> None:
    for record in demo.records.values():
        assert not re.search(r"\bat 0x[0-9a-f]{6}", record.text), record.url
        assert "somebody-elses.winnow" not in record.text


def test_the_suggested_commands_work(demo: Demo) -> None:
    serve, *others = demo.said["next"]
    assert serve == f"winnow serve --store {shlex.quote(demo.said['store'])}"
    assert [shlex.split(line)[1] for line in others] == ["search", "similar", "compare"]
    for line in (f"{serve} --get '/api/v1/search?words=permission'", *others):
        done = subprocess.run(
            line, shell=True, env=os.environ | {"PATH": PATH}, cwd=demo.folder, capture_output=True, check=False
        )
        assert (done.returncode, bool(done.stdout)) == (0, True), (line, done.stderr)


def test_a_second_run_finds_nothing_changed_and_runs_the_commands(demo: Demo, on_terminal: OnTerminal) -> None:
    store, *commands = demo.said["next"]
    command = (WINNOW, "demo", "--to", "made here", "--pages", PAGES)
    code, shown = on_terminal(*command, folder=demo.folder, TMPDIR=str(demo.folder))
    assert code == 0
    assert "rendering the standard library with pydoc" in shown
    assert f"indexed 0, unchanged {demo.said['pages']}, failed 0" in shown
    for line in (*commands, store):
        assert line.partition(" ")[2] in shown.replace("\n", ""), line
    assert "1 more like this" in shown or "more like this" in shown  # of the search
    assert "A in B" in shown
    with Index.open(demo.folder / demo.said["store"], create=False) as index:
        assert index.count() == demo.said["pages"]


def test_it_runs_on_opensearch(engine: Running, demo: Demo, tmp_path: Path) -> None:
    store = f"{engine.url}/demo-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    for unchanged in (0, demo.said["pages"]):
        done = run(tmp_path, "--to", ".", "--pages", PAGES, "--json", "--store", store)
        assert done.returncode == 0, done.stderr.decode()
        said = json.loads(done.stdout)
        assert said["unchanged"] == unchanged
        for name in ("pages", "modules", "licences", "left_out"):
            assert said[name] == demo.said[name]
        assert said["clustering"]["clusters"] == demo.said["clustering"]["clusters"]
        assert said["next"][0] == f"winnow serve --store {store}"
    assert list(tmp_path.iterdir()) == []


def test_pages_do_not_depend_on_the_number_of_workers() -> None:
    (one, left_out), (other, left_out_again) = (pydoc_pages(NOW, workers, 30, lambda *_: None) for workers in (1, 3))
    assert one == other
    assert left_out == left_out_again
    assert len(one) + len(left_out) == 30
    assert [page.url for page in one] == sorted(page.url for page in one)
    assert {page.fetched_at for page in one} == {NOW}


def test_a_module_that_misbehaves_does_not_affect_others(tmp_path: Path) -> None:
    modules, pages = tmp_path / "modules", tmp_path / "pages"
    modules.mkdir()
    pages.mkdir()
    for name, code in MODULES.items():
        (modules / f"{name}.py").write_text(code)
    program = (
        f"import runpy, sys; sys.stdlib_module_names = {set(MODULES)!r}; sys.path.insert(0, {str(modules)!r});"
        f" sys.argv[1:] = ['2', '2']; runpy.run_path({str(PROCESS)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=pages, capture_output=True, text=True, check=True)
    number, *lines = done.stdout.splitlines()
    assert int(number) == len(MODULES)
    outcomes = {"well": "0", "prints": "0", "broken": "1", "leaves": "1", "dies": "-9", "hangs": "-14", "this": "never"}
    assert dict(line.split() for line in lines) == outcomes
    assert sorted(path.name for path in pages.iterdir()) == ["prints.html", "well.html"]
    assert done.stderr == ""
