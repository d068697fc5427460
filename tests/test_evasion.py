"""Disguised copies: what hides nothing, what hides something, and that docs/limits.md shows what was measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import evasion
from benchmarks.evasion_attacks import ATTACKS
from benchmarks.evasion_plots import DRAWN, PICTURES, plots
from benchmarks.table import Run, Table

ROOT = Path(__file__).parent.parent
ALL = "100 % · 100 %"


@pytest.fixture(scope="module")
def found() -> dict[str, dict[tuple[str, str], str]]:
    """Return what is found of a few copies, by attack, then by strength and scheme."""
    small = evasion.made_corpus(Run(0.1))
    measured = {name: evasion.found_with(small, name) for name in ("pages", "folded", "keyed", "passages", "koala")}
    cells = {
        attack.name: {
            (f"{strength:g}", name): measured[name][attack.title, strength]
            for name in measured.keys() & attack.schemes
            for strength in attack.strengths
        }
        for attack in ATTACKS
        if not attack.options.get("min_contained")
    }
    floods = [(n, name) for n in small.floods for name in ("pages", "koala")]
    return cells | {evasion.FLOOD: {(f"{n}", name): measured[name][evasion.FLOOD, n] for n, name in floods}}


@pytest.mark.check
@pytest.mark.xdist_group("evasion")
def test_what_hides_nothing_and_what_hides_a_copy(found: dict[str, dict[tuple[str, str], str]]) -> None:
    for attack in ("zero-width", "padding", evasion.FLOOD):
        assert set(found[attack].values()) == {ALL}
    assert found["order"]["20", "pages"] == found["order"]["20", "passages"] == ALL
    assert {found["homoglyphs"][strength, "folded"] for strength in ("10", "25", "50")} == {ALL}
    assert found["fingerprints"]["1", "keyed"] == ALL
    assert found["fingerprints"]["1", "pages"] != ALL
    for attack, strength in (("homoglyphs", "10"), ("homoglyphs", "1"), ("letters", "10"), ("template", "4")):
        assert found[attack][strength, "pages"] == "0 % · 0 %"


# --- docs/limits.md ---------------------------------------------------------------------------------------------------


def measured_tables() -> list[Table]:
    """Return the tables of the section of benchmarks/README.md."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## evasion\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section
    made = []
    for title, lines in re.findall(r"^\*\*(.+)\*\*\n\n((?:\|.*\n)+)", section[1], re.MULTILINE):
        header, _, *rows = (tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines.splitlines())
        made.append(Table(title, header, rows))
    return made


def test_curves_are_drawn_from_the_tables() -> None:
    drawn = list(plots(measured_tables()))
    assert {plot.name for plot in drawn} == {curves.name for curves in DRAWN.values()}
    for plot in drawn:
        assert (PICTURES / f"{plot.name}.svg").read_text(encoding="utf-8") == plot.svg()


def test_tables_of_limits_are_measured() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8").partition("## Deliberate evasion")[2]
    lines = re.findall(r"^\| *[\d.].*$", text, re.MULTILINE)
    shown = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    measured = {row for table in measured_tables() for row in table.rows}
    assert len(shown) >= 4
    assert [row for row in shown if row not in measured] == []
