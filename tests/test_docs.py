"""The documentation fails when it is wrong: what it shows is run, as a reader would run it, and compared."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md"]  # docs/cli.md has its own test, beside those of the commands
GUIDES = [ROOT / f"docs/{name}.md" for name in ("indexing", "finding", "search", "clusters")]


def shown_commands(page: Path) -> list[list[tuple[str, str]]]:
    """For each console block of the page its `$ command`s, with the output below each."""
    shown = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        pieces = [piece.partition("\n") for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
        shown.append([(command, output) for command, _, output in pieces])
    return shown


def matches(expected: str, seen: str) -> bool:
    """Equal, where a line with ⋮ alone stands for any lines."""
    parts = [re.escape(part.strip("\n")) for part in re.split(r"^⋮$", expected, flags=re.MULTILINE)]
    return re.fullmatch(r"[\s\S]*?".join(parts), seen.strip("\n")) is not None


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(block, id=f"{page.name}: {block[0][0]}")
        for page in [*PAGES, *GUIDES]
        for block in shown_commands(page)
    ],
)
def test_commands_print_what_the_page_shows(
    on_terminal: Callable[..., tuple[int, str]], commands: list[tuple[str, str]], tmp_path: Path
) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # and what they write is not left in the checkout
    for command, expected in commands:
        _, seen = on_terminal(*shlex.split(command), folder=tmp_path, NO_COLOR="1")
        assert matches(expected, seen), f"$ {command}\n{seen}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_hold(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    outcome = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert outcome.failed == 0


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_code_of_the_guide_can_be_run(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", guide.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_options_of_the_guide_are_there(guide: Path) -> None:
    named = set(re.findall(r"(--[a-z][a-z-]+)", guide.read_text()))
    known = set(re.findall(r"(--[a-z][a-z-]+)", (ROOT / "docs/cli.md").read_text()))
    assert named
    assert named <= known


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
