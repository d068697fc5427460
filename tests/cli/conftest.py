"""How the tests of the command line call it: in a process of its own, on a terminal, or quickly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result

from opensearch_winnow.cli import main

WINNOW = Path(sys.executable).with_name("winnow")
PATH = f"{WINNOW.parent}{os.pathsep}{os.environ['PATH']}"
CLEAN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}


@pytest.fixture
def winnow() -> Callable[..., Result]:
    """The command within this process: quick, and neither a terminal nor a pipe."""

    def call(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(
            main, list(map(str, arguments)), input=stdin, prog_name="winnow", catch_exceptions=False
        )

    return call


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """The real command with pipes, in a folder of its own."""

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


LETTERS = Random(0)
LEXICON = ["".join(LETTERS.choices("abcdefghijklmnopqrstuvwxyz", k=LETTERS.randint(2, 9))) for _ in range(2_000)]


def sentences(words: int, seed: int = 0) -> str:
    """Without sense, and always the same."""
    chosen = Random(seed).choices(LEXICON, k=words)
    return " ".join(word + "." * (index % 12 == 11) for index, word in enumerate(chosen))


@pytest.fixture
def prose() -> Callable[..., str]:
    return sentences


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two files with three paragraphs in common, of which one moved."""
    one, two, three, ours, theirs = (sentences(60, seed) for seed in range(5))
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text(f"{one}\n\n{ours}\n\n{two}\n\n{three}", encoding="utf-8")
    b.write_text(f"{three.upper()}\n\n{one}\n\n{theirs}\n\n{two}", encoding="utf-8")
    return a, b
