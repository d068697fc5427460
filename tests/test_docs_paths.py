"""Files and folders of the repository that the documentation names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
# Two names or more with slashes between them, then the suffix of a file or the slash of a folder.
PATH = re.compile(r"(?<![\w./:@~-])(?:[\w-]+/)+(?:[\w.-]+\.[a-z]+\b|(?![\w.{*]))")
SOURCES = (".py", ".pyx", ".pxd", ".pyi", ".h")
PLACEHOLDER = re.compile(r"[/_]X\.")  # tests/cython_core/test_X.py stands for any module X


def repository_paths(text: str) -> set[str]:
    """Return the words of `text` that look like paths of this repository.

    A source file always does. Any other path does if its first folder is one at the top of the repository.
    """
    text = re.sub(r"https?://\S+", "", text)
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build", "dist"}
    paths = (path for path in PATH.findall(text) if not PLACEHOLDER.search(path))
    return {path for path in paths if path.endswith(SOURCES) or path.partition("/")[0] in folders}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_exists(page: Path) -> None:
    paths = repository_paths(page.read_text(encoding="utf-8"))
    # A link is relative to its page; a path in a sentence is relative to the repository.
    assert [path for path in sorted(paths) if not ((ROOT / path).exists() or (page.parent / path).exists())] == []
