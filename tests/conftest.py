"""Fixtures that all tests share, and the settings of hypothesis."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Callable, Iterator
from fcntl import LOCK_EX, flock
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.engine_fixture",
    "tests.record_fixtures",
    "tests.soak_figures",
    "tests.store_fixtures",
    "tests.web.browser_fixture",
    "tests.web.real_crawl_fixture",
]

NO_DATA = "WINNOW_DATA names no folder of further real pages"
ROOT = Path(__file__).resolve().parent.parent
LAZY_MODULES = (  # modules that the package imports when they are first used
    *(f"ingest.sources.{name}" for name in ("warc", "arc", "wacz", "jsonl", "parquet", "files")),
    "stores.embedded",
)

# "steady" tries the same examples in every run, so a failure is reproducible; HYPOTHESIS_PROFILE=explore tries others.
# Neither has a time limit, because the machine may be busy.
settings.register_profile(
    "steady", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# A process started by nohup, or in the background of a script, ignores Ctrl-C. Every process that the tests start would
# inherit that, and the tests could not stop it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def pyproject() -> dict[str, Any]:
    """The content of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def further_data() -> Path:
    """The folder of further real pages, named by WINNOW_DATA. Without one, the summary lists the tests not run."""
    named = os.environ.get("WINNOW_DATA")
    if not named:
        pytest.skip(NO_DATA)
    folder = Path(named)
    assert folder.is_dir(), f"WINNOW_DATA names {folder}, which is not a folder"
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report in one line which tests were not run because WINNOW_DATA is not set, and what tests remarked."""
    passed = terminalreporter.stats.get("passed", [])
    remarks = [text for report in passed for name, text in report.user_properties if name == "remark"]
    if remarks:
        terminalreporter.section("remarks")
        terminalreporter.write("".join(f"{remark}\n" for remark in remarks))
    skipped = terminalreporter.stats.get("skipped", [])
    without = [report for report in skipped if NO_DATA in str(report.longrepr)]
    if without:
        terminalreporter.stats["skipped"] = [report for report in skipped if report not in without]
        files = sorted({report.nodeid.partition("::")[0].removeprefix("tests/") for report in without})
        terminalreporter.section("not run")
        terminalreporter.line(f"{len(without)} tests, because {NO_DATA}: {', '.join(files)}")


@pytest.fixture
def unpacked(further_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that takes the name of a data set and returns the folder it is unpacked in.

    Each data set is unpacked once for all test workers.
    """

    def unpack(name: str) -> Path:
        base = tmp_path_factory.getbasetemp()
        folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "data" / name
        folder.parent.mkdir(exist_ok=True)
        with open(folder.parent / f"{name}.lock", "w") as lock:  # noqa: PTH123 (flock wants a file)
            flock(lock, LOCK_EX)
            if not folder.exists():
                (archive,) = (further_data / name).glob("*.tar.xz")
                with tarfile.open(archive) as tar:
                    tar.extractall(folder.with_suffix(".part"), filter="data")
                folder.with_suffix(".part").rename(folder)
        return folder

    return unpack


@pytest.fixture
def on_terminal(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Return a function that runs a command in a terminal of 100 columns, and returns its exit code and output.

    The command runs in `folder`, by default the test's temporary folder.
    """

    def call(*command: str | Path, folder: Path = tmp_path, **environment: str) -> tuple[int, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "LINES")}
        settings = inherited | {"PATH": path, "COLUMNS": "100", "TERM": "xterm-256color"} | environment
        ours, theirs = pty.openpty()
        with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=settings, cwd=folder) as run:
            os.close(theirs)
            output = b""
            while piece := _read(ours):
                output += piece
        os.close(ours)
        return run.returncode, output.decode().replace("\r\n", "\n")

    return call


@pytest.fixture
def as_anybody() -> Iterator[Path]:
    """Run the test as a user without root's permissions, and return a folder that this user may write to."""
    for module in LAZY_MODULES:
        import_module(f"opensearch_winnow.{module}")  # the other user may lack the permission to read them
    with TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65_534)
        try:
            yield Path(name)
        finally:
            os.seteuid(user)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # on Linux: the other end is closed
        return b""
