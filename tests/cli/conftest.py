"""Fixtures that call the command, in this process or in one of its own, and the pages to call it on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen
from typing import Any

import pytest
from click.testing import CliRunner, Result

from opensearch_winnow.cli import main
from tests.meaningless_text import sentences

Process = Callable[..., CompletedProcess[bytes]]
OnTerminal = Callable[..., tuple[int, str]]
Prose = Callable[..., str]

WINNOW = Path(sys.executable).with_name("winnow")
PATH = f"{WINNOW.parent}{os.pathsep}{os.environ['PATH']}"
CLEAN = {
    name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES", "WINNOW_STORE")
}


class Winnow:
    """Runs the command in this process: fast, and neither on a terminal nor in a pipe."""

    def __call__(self, *arguments: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(
            main, list(map(str, arguments)), input=stdin, prog_name="winnow", catch_exceptions=False
        )

    def json(self, *arguments: object, code: int = 0, stdin: str | bytes | None = None) -> Any:
        """Return the JSON object that a command prints, which ends with the exit code `code`."""
        done = self(*arguments, "--json", stdin=stdin)
        assert done.exit_code == code, done.stderr
        return json.loads(done.stdout)

    def rows(self, *arguments: object, code: int = 0) -> list[list[str]]:
        """Return the tab-separated rows, the header among them, that a command prints."""
        done = self(*arguments)
        assert done.exit_code == code, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def refused(self, *arguments: object, stdin: str | bytes | None = None) -> str:
        """Return what a command that is an error says, on standard error alone, as one line."""
        done = self(*arguments, stdin=stdin)
        assert (done.exit_code, done.stdout) == (2, "")
        return " ".join(done.stderr.split())


@pytest.fixture
def winnow() -> Winnow:
    return Winnow()


@pytest.fixture
def process(tmp_path: Path) -> Process:
    """A function that runs the installed command in a process and folder of its own, with pipes."""

    def call(*arguments: str | Path | bytes, stdin: bytes = b"", **environment: str) -> CompletedProcess[bytes]:
        environment = CLEAN | {"PATH": PATH} | environment
        return subprocess.run(
            [WINNOW, *arguments], input=stdin, env=environment, cwd=tmp_path, capture_output=True, check=False
        )

    return call


def started(
    folder: Path,
    *arguments: str | Path,
    stdin: int | None = None,
    stdout: int = PIPE,
    session: bool = False,
    environment: dict[str, str] | None = None,
) -> Popen[bytes]:
    """Start the installed command in a process, or even a session, of its own."""
    return Popen(
        [WINNOW, *arguments],
        cwd=folder,
        env=CLEAN | {"PATH": PATH} | (environment or {}),
        stdin=stdin,
        stdout=stdout,
        stderr=PIPE,
        start_new_session=session,
    )


def wait_until(condition: Callable[[], object], run: Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert run.poll() is None, "it was over too soon"
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the test, in which it runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def json_lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def prose() -> Prose:
    return sentences


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two files that share three paragraphs, one of them moved."""
    one, two, three, ours, theirs = (sentences(60, seed) for seed in range(5))
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text(f"{one}\n\n{ours}\n\n{two}\n\n{three}", encoding="utf-8")
    b.write_text(f"{three.upper()}\n\n{one}\n\n{theirs}\n\n{two}", encoding="utf-8")
    return a, b


MILL = "http://example.org/mill"
LONG_URL = "http://www.example.org/" + "a-long-way/" * 27 + "end.html"


@pytest.fixture(scope="session")
def _crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a small crawl: a page and its earlier capture, full and partial copies, and pages with odd names."""
    from opensearch_winnow.index import Index  # noqa: PLC0415
    from opensearch_winnow.ingest.page import Page  # noqa: PLC0415

    def day(year: int, month: int, date: int) -> datetime:
        return datetime(year, month, date, tzinfo=UTC)

    one, two, three, *others = (sentences(60, seed) for seed in range(9))
    mill = f"{one}\n\n{two}\n\n{three}"
    store = tmp_path_factory.mktemp("crawl") / "crawl.winnow"
    with Index.open(store) as index:
        index.add([Page(MILL, text=f"{one}\n\n{two}\n\n{others[0]}", fetched_at=day(2023, 5, 6))], crawl="first")
        pages = [
            Page(MILL, text=mill, title="The mill in the valley", fetched_at=day(2024, 3, 1)),
            Page("http://mirror.example/mill", text=mill, title="漢字の水車小屋", fetched_at=day(2024, 3, 2)),
            Page(LONG_URL, text=f"{mill} {sentences(12, 90)}", title="A café", fetched_at=day(2024, 4, 1)),
            Page("http://example.net/quote", text=f"{others[1]}\n\n{one}\n\n{others[2]}", title="שלום עולם 🙂"),
            Page("http://example.com/\x1b[2J", text=f"{mill}\n\n{others[3]}", title="\x1b]0;evil\x07 valley \u202e"),
            Page("http://example.com/else", text=others[4], fetched_at=day(2024, 3, 1)),
        ]
        index.add(pages, crawl="second")
    return store


@pytest.fixture
def crawl(_crawled: Path, tmp_path: Path) -> Path:
    """A copy of that store for one test."""
    return Path(shutil.copy(_crawled, tmp_path))
