"""docs/cli.md quotes the commands' output. `python tests/cli/test_docs.py` updates the quotations."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from opensearch_winnow.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
FILE = re.compile(r"^```text (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


Run = Callable[[str, Path], str]
NEEDS_SHELL = re.compile(r"[|<>$;&*~]|^(?!winnow )")  # what only a shell understands


def run_here(command: str, folder: Path) -> str:
    """Return a command's output in a pipe; run it in this process if it needs no shell."""
    if NEEDS_SHELL.search(command):
        return run(command, folder)
    settings = {"COLUMNS": "80", "NO_COLOR": None, "WINNOW_STORE": None}
    with contextlib.chdir(folder):
        arguments = shlex.split(command)[1:]
        # click leaves two of the 80 columns empty, but not in tests.
        return CliRunner(env=settings).invoke(main, arguments, prog_name="winnow", terminal_width=78).output


def run(command: str, folder: Path) -> str:
    """Return a command's output in a pipe, run by bash with a clean environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {
        "PATH": path,
        "COLUMNS": "80",
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=settings, stdout=-1, stderr=-2, text=True, check=False
    )
    return done.stdout


def rewritten(page: str, folder: Path, run: Run = run) -> str:
    """Return the page with the present output of every session; the files it needs are written to `folder`."""
    for name, content in FILE.findall(page):
        (folder / name).write_text(content, encoding="utf-8")

    def session(block: re.Match[str]) -> str:
        commands = [line[2:] for line in block[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"$ {command}\n{run(command, folder)}" for command in commands) + "```"

    return SESSION.sub(session, page)


@pytest.mark.parametrize("run", [run_here, pytest.param(run, marks=pytest.mark.check)])
def test_the_page_quotes_the_present_output(run: Run, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == rewritten(page, tmp_path, run)


def test_every_command_is_in_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"$ winnow {name} --help\n" in page for name in main.command_modules)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), Path(scratch)), encoding="utf-8")
