"""Runs the commands and code of the documentation as a reader would, and compares the output."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from opensearch_winnow.foundation.scheme import PRESETS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Console sessions run first, in order, then Python sessions. Other tests run cli.md, opensearch.md and own-searches.md.
PAGES = [ROOT / "README.md", *(DOCS / f"{name}.md" for name in ("tutorial", "how-it-works", "limits", "web"))]
SUBJECTS = ["indexing", "finding", "search", "clusters", "changes", "watching", "archives", "keys", "deduplicating"]
SUBJECTS += ["repeated-passages", "contamination", "pairs", "class-report"]
GUIDES = [DOCS / f"{name}.md" for name in SUBJECTS]
# Tables in the documentation are copied from this page, by rows or by figures.
MEASURED = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
DURATION = re.compile(r"\b[\d.,]+ m?s\b")


def shown_commands(page: Path) -> list[tuple[str, str]]:
    """Return each `$ command` in the console blocks of `page` with the output below it."""
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    pieces = [piece for block in blocks for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, output) for command, _, output in (piece.partition("\n") for piece in pieces)]


def matches(expected: str, seen: str) -> bool:
    """Whether both are equal apart from durations. A line with ⋮ alone in `expected` stands for any lines."""
    expected, seen = (DURATION.sub("0 s", text) for text in (expected, seen))
    parts = [re.escape(part.strip("\n")) for part in re.split(r"^⋮$", expected, flags=re.MULTILINE)]
    return re.fullmatch(r"[\s\S]*?".join(parts), seen.strip("\n")) is not None


@pytest.mark.parametrize(
    "page",
    [PAGES[0], *(pytest.param(page, marks=pytest.mark.check) for page in (*PAGES[1:], *GUIDES))],
    ids=lambda page: page.name,
)
def test_console_and_python_sessions_print_what_is_shown(
    on_terminal: Callable[..., tuple[int, str]], page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").symlink_to(DOCS)  # commands write here and not into the checkout
    monkeypatch.chdir(tmp_path)
    commands = shown_commands(page)
    for command, expected in commands:
        _, seen = on_terminal(*shlex.split(command), folder=tmp_path, NO_COLOR="1")
        assert matches(expected, seen), f"$ {command}\n{seen}"
    if page in PAGES:
        outcome = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
        assert outcome.failed == 0
        assert commands or outcome.attempted


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_python_of_a_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", guide.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})


OTHERS = [DOCS / f"{name}.md" for name in ("choosing", "faq", "own-index", "own-searches", "opensearch")]


@pytest.mark.parametrize("page", [*PAGES, *GUIDES, *OTHERS], ids=lambda page: page.name)
def test_named_options_exist(page: Path) -> None:
    others = re.compile(r"^```console\n.*?^```|^(?:make|pip|docker|git) .*$", re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", others.sub("", page.read_text())))
    assert named <= set(re.findall(r"(--[a-z][a-z-]+)", (DOCS / "cli.md").read_text()))


@pytest.mark.parametrize("page", [*PAGES, *GUIDES, DOCS / "faq.md"], ids=lambda page: page.name)
def test_named_commands_exist(page: Path) -> None:
    known = set(re.findall(r"^\$ winnow ([a-z]+) --help(?:-all)?$", (DOCS / "cli.md").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`|\| )winnow ([a-z]+)", page.read_text(), re.MULTILINE))
    assert named <= known
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), re.MULTILINE)) <= targets


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|") and not set(line) <= set("|-")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_tables_of_choosing_are_measured() -> None:
    measured = rows(MEASURED)
    _, *sections = re.split(r"^## ", (DOCS / "choosing.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    shown = [row for section in sections if not section.startswith("Presets") for row in rows(section)]
    assert len(shown) > 30
    assert [row for row in shown if row not in measured] == []


@pytest.mark.parametrize(
    ("page", "section"),
    [
        *[("README.md", "Numbers"), ("docs/comparison.md", "For data sets"), ("docs/opensearch.md", "Sizing")],
        *[("docs/indexing.md", "Hostile sources"), ("docs/finding.md", "How two texts are related")],
        *[("docs/contamination.md", "What is found"), ("docs/contamination.md", "Time and memory")],
        *[("docs/scale.md", "What is measured"), ("docs/scale.md", "Candidates as the collection grows")],
    ],
)
def test_figures_are_measured(page: str, section: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"^## {section}\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert found
    figures = {figure for row in rows(found[1]) for cell in row for figure in NUMBER.findall(cell)}
    assert len(figures) > 5
    assert figures - set(NUMBER.findall(MEASURED)) == set()


def test_presets_match_the_code() -> None:
    page = (DOCS / "choosing.md").read_text(encoding="utf-8").partition("## Presets")[2]
    shown = {row[0].strip("`"): (int(row[1]), int(row[2]), int(row[3].split()[0])) for row in rows(page)[1:]}
    assert shown == {name: (scheme.noise, scheme.guarantee, scheme.shingle) for name, scheme in PRESETS.items()}


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes from the headings of `page`."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_have_targets() -> None:
    for page in [*ROOT.glob("*.md"), *DOCS.glob("**/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            place = (page.parent / name) if name else page
            assert place.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(place), f"{page.name} links to {target}"


def test_table_of_contents_has_every_page() -> None:
    contents = (DOCS / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([^)#]+\.md)\)", contents))
    assert {page.name for page in DOCS.glob("*.md")} - {"README.md"} <= listed
