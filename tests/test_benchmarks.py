"""Every benchmark runs, on a tiny amount of data. `make bench` measures."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = Path(__file__).resolve().parent.parent / "benchmarks" / "__main__.py"
(NAMES,) = (
    ast.literal_eval(node.value)
    for node in ast.parse(MAIN.read_text(encoding="utf-8")).body
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "USUAL"
)


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.check
@pytest.mark.parametrize("name", NAMES)
def test_runs(root: Path, name: str) -> None:
    done = run(root, name, "--scale", "0.0001", "--offline")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"## {name}\n")
    header, rule, *rows = (line for line in done.stdout.splitlines() if line.startswith("|"))
    assert set(rule) == {"|", "-"}
    assert rows
    assert {row.count("|") for row in (header, *rows[:1])} == {rule.count("|")}


def test_an_unknown_name_is_refused_with_the_list(root: Path) -> None:
    done = run(root, "nonsense")
    assert done.returncode == 2
    assert "there are winnowing, sketches_vs_peers" in done.stderr
