"""docs/cli.md quotes the commands' output. `python tests/cli/test_docs.py` updates the quotations.

It also puts the sections in the order in which `winnow --help` lists the commands.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from difflib import unified_diff
from math import inf
from pathlib import Path

import pytest
from click.testing import CliRunner

from opensearch_winnow.cli import main, progress

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
FILE = re.compile(r"^```text (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


NEEDS_SHELL = re.compile(r"[|<>$;&*~]|^(?!winnow )")  # what only a shell understands
WITHOUT_COLOR = r" | sed 's/\x1b\[[0-9;]*m//g'"


def output(command: str, folder: Path) -> str:
    """Return the output of a command in a pipe."""
    bare = command.removesuffix(WITHOUT_COLOR)
    if NEEDS_SHELL.search(bare):
        return output_of_shell(command, folder)
    settings = {"COLUMNS": "80", "NO_COLOR": None, "WINNOW_STORE": None}
    with contextlib.chdir(folder):
        # click leaves two of the 80 columns empty, but not in tests.
        done = CliRunner(env=settings).invoke(main, shlex.split(bare)[1:], prog_name="winnow", terminal_width=78)
    return re.sub(r"\x1b\[[0-9;]*m", "", done.output) if bare != command else done.output


def output_of_shell(command: str, folder: Path) -> str:
    """Return what bash prints for a command."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {
        "PATH": path,
        "COLUMNS": "80",
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=settings, stdout=-1, stderr=-2, text=True, check=False
    )
    return done.stdout


def in_order(page: str) -> str:
    """Return the page with the sections in the order of the commands."""
    rules, *sections = re.split(r"^(?=## winnow )", page, flags=re.MULTILINE)
    order = list(main.command_modules)
    sections.sort(key=lambda section: order.index(section.split()[2]))
    return "\n\n".join(part.strip() for part in (rules, *sections)) + "\n"


def rewritten(page: str, folder: Path) -> str:
    """Return the page with the present output of every session; the files it needs are written to `folder`."""
    page = in_order(page)
    for name, content in FILE.findall(page):
        (folder / name).write_text(content, encoding="utf-8")

    def session(block: re.Match[str]) -> str:
        commands = [line[2:] for line in block[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"$ {command}\n{output(command, folder)}" for command in commands) + "```"

    return SESSION.sub(session, page)


@pytest.mark.check
def test_the_page_quotes_the_present_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", inf)  # a slow machine would show progress
    page = PAGE.read_text(encoding="utf-8")
    differences = unified_diff(page.splitlines(), rewritten(page, tmp_path).splitlines(), "the page", "now", n=1)
    assert not list(differences)


def test_every_command_has_a_section_with_its_help() -> None:
    sections = re.split(r"^## winnow ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert {name for name in main.command_modules if f"$ winnow {name} --help" in "".join(sections)} == {
        section.split()[0] for section in sections
    }
    assert all(f"$ winnow {section.split()[0]} --help" in section for section in sections)


def test_sections_are_in_the_order_of_the_commands() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert in_order(page) == page


def test_examples_have_the_files_that_they_name() -> None:
    assert "Error: there is no file or folder" not in PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), Path(scratch)), encoding="utf-8")
