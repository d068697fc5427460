"""The papers' experiments keep their tolerances, notice a faulty core, and are what docs/papers shows."""

from __future__ import annotations

import ast
import re
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

import pytest

from benchmarks.papers import __main__ as command, koala_matching, winnowing
from benchmarks.papers.page import PAPERS, index_page
from benchmarks.papers.part import Check, Part
from benchmarks.papers.plot import Plot
from benchmarks.papers.run import PaperRun
from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.rare_grams import rare_grams
from opensearch_winnow.cython_core.window_minima import window_minima
from tests.quality.corpora import FURTHER, PUBLIC, WHOLE

CODE = Path(winnowing.__file__).parent
SHOWN = sorted(path for path in command.DOCS.glob("*.md") if path.name != "README.md")
DIGESTS = {"public": PUBLIC.digest, "whole": WHOLE.digest, "manuals": FURTHER.digest}


def headings(name: str) -> list[str]:
    """Return the titles of the experiments on a page, without that of the list of corpora."""
    found = re.findall(r"^## (.+)$", (command.DOCS / f"{name}.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert found.pop() == "Corpora"
    return found


def titles(name: str) -> set[str]:
    """Return the titles of the parts that the modules of a paper write, as they are in the code."""
    return {
        node.args[0].value
        for path in CODE.glob(f"{name}*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Part"
        if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    }


@pytest.mark.parametrize("name", PAPERS)
def test_page_has_every_experiment(name: str) -> None:
    assert set(headings(name)) == titles(name), "run make papers to write the page again"


def test_pages_and_the_list_of_them_are_up_to_date() -> None:
    assert {path.stem for path in SHOWN} == set(PAPERS)
    assert (command.DOCS / "README.md").read_text(encoding="utf-8") == index_page()


@pytest.mark.parametrize("page", SHOWN, ids=lambda path: path.stem)
def test_page_is_made_from_the_pinned_corpora(page: Path) -> None:
    used = dict(re.findall(r"^\| `(\w+)` .*`([0-9a-f]{32})` +\|$", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert used
    assert {name: DIGESTS.get(name, digest) for name, digest in used.items()} == used


def test_every_plot_is_shown_and_loads_nothing() -> None:
    shown = {name for page in SHOWN for name in re.findall(r"!\[[^\]]+\]\((.+\.svg)\)", page.read_text("utf-8"))}
    plots = sorted(command.DOCS.glob("*.svg"))
    assert {path.name for path in plots} == shown
    for path in plots:
        svg = path.read_text(encoding="utf-8")
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert not re.search(r"<script|href=|url\(|@import", svg)


@pytest.mark.parametrize(("low", "high", "code"), [(1.0, 3.0, 0), (2.5, 3.0, 1), (1.0, 1.5, 1)])
def test_a_figure_outside_its_bounds_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], low: float, high: float, code: int
) -> None:
    monkeypatch.setattr(winnowing, "parts", lambda _: [Part("An experiment", "", checks=(Check("it", 2, low, high),))])
    assert command.main(["--quick", "winnowing"]) == code
    named = f"outside its tolerance: winnowing, An experiment: it: 2 (allowed: {low:g} to {high:g})"
    assert (named in capsys.readouterr().err) == bool(code)


def test_a_plot_drops_what_a_logarithmic_axis_cannot_show() -> None:
    plot = Plot("p", "Title", "x", "y", {"a": [(0.0, 1.0), (1.0, 10.0), (100.0, 0.5)]}, log_x=True, log_y=True)
    (line,) = (each for each in ElementTree.fromstring(plot.svg()).iter() if each.tag.endswith("polyline"))
    left, right = (tuple(map(float, point.split(","))) for point in line.attrib["points"].split())
    assert left[0] < right[0]
    assert left[1] < right[1], "y grows downwards in SVG"


# --- the experiments --------------------------------------------------------------------------------------------------


@pytest.mark.check
@pytest.mark.parametrize("name", PAPERS)
def test_figures_keep_their_tolerances(name: str) -> None:
    page = command.run_paper(name, PaperRun(quick=True))
    assert [str(check) for part in page.parts for check in part.checks if not check.holds] == []
    assert [part.title for part in page.parts] == headings(name)
    assert page.markdown().startswith(f"# {page.title}\n")


Prints: TypeAlias = "tuple[array[int], array[int]]"


def wider(chars: str, k: int, w: int, selection: str = "winnow", **options: bool) -> Prints:
    return fingerprints(chars, k, w + (selection == "winnow"), selection, **options)


def never_robust(chars: str, k: int, w: int, selection: str = "winnow", **_: bool) -> Prints:
    return fingerprints(chars, k, w, selection, robust=False)


@pytest.mark.check
@pytest.mark.parametrize(
    ("mutant", "named"),
    [
        (wider, ["largest gap of winnowing, on random text: 101", "density of winnowing on random text", "zeros"]),
        (never_robust, ["density of robust winnowing on zeros", "density of robust winnowing on abba"]),
    ],
)
def test_a_faulty_selection_is_noticed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mutant: Callable[..., Prints], named: list[str]
) -> None:
    monkeypatch.setattr(winnowing, "fingerprints", mutant)
    assert command.main(["--quick", "winnowing"]) == 1
    complaints = capsys.readouterr().err
    assert [name for name in named if name not in complaints] == []


def test_a_window_off_by_one_changes_figure_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(winnowing, "window_minima", lambda hashes, w, **chosen: window_minima(hashes, w - 1, **chosen))
    differing, grams = winnowing.worked_example().checks
    assert (differing.holds, grams.holds) == (False, True)


@pytest.mark.check
def test_substrings_off_by_one_are_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(koala_matching, "rare_grams", lambda chars, k, size: rare_grams(chars, k + 1, size))
    assert command.main(["--quick", "koala"]) == 1
    assert "matches with other documents for each, public" in capsys.readouterr().err
