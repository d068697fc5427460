"""Fixtures that call the command, in this process or in one of its own, and the pages to call it on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opensearch_winnow.cli import main
from tests.meaningless_text import sentences

WINNOW = Path(sys.executable).with_name("winnow")
PATH = f"{WINNOW.parent}{os.pathsep}{os.environ['PATH']}"
CLEAN = {
    name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES", "WINNOW_STORE")
}


@pytest.fixture
def winnow() -> Callable[..., Result]:
    """A function that runs the command in this process: fast, and neither on a terminal nor in a pipe."""

    def call(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(
            main, list(map(str, arguments)), input=stdin, prog_name="winnow", catch_exceptions=False
        )

    return call


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """A function that runs the installed command in a process and folder of its own, with pipes."""

    def call(
        *arguments: str | Path | bytes, stdin: bytes = b"", **environment: str
    ) -> subprocess.CompletedProcess[bytes]:
        command = [WINNOW, *arguments]
        return subprocess.run(
            command,
            input=stdin,
            env=CLEAN | {"PATH": PATH} | environment,
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )

    return call


@pytest.fixture
def prose() -> Callable[..., str]:
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
