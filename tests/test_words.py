"""The words of the house: plain docstrings, and one word for one thing (the glossary stands in CONTRIBUTING)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# Docstrings begin with a verb or with their subject (PEP 257).
ELLIPTICAL = re.compile(r'"{3}(?:Of|That|Those|As|And|How many|By which)\b.*')
# Each stood for several things. In brackets, so that a search for one of them does not find this line.
RETIRED = re.compile(r"\b(?:[aA]ske[d]|in_word[s]|MOS[T]|FE[W]|LONGES[T]|AT_ONC[E]|AT_MOS[T]|TOGETHE[R]|so man[y])\b")


@pytest.fixture(scope="module")
def files(root: Path) -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    named = [root / name for name in listed.stdout.splitlines() if name.endswith((".py", ".pyx", ".pyi", ".pxd"))]
    return [path for path in named if path.is_file() and not path.is_symlink()]


def test_docstrings_name_their_subject(root: Path, files: list[Path]) -> None:
    found = [
        f"{path.relative_to(root)}: {docstring}"
        for path in files
        for docstring in ELLIPTICAL.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_retired_words_are_gone(root: Path, files: list[Path]) -> None:
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if RETIRED.search(line)
    ]
    assert found == []
