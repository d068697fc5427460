"""Changes the product in small ways, and counts how many of these mutants the tests notice.

    python -m tools.mutants draw --count 100 --seed 42 > build/mutants.jsonl
    coverage run --rcfile=tools/mutants.rc -m pytest -n 0
    coverage combine --rcfile=tools/mutants.rc
    python -m tools.mutants run build/mutants.jsonl > build/killed.jsonl

Each mutant changes one operator, constant or condition inside a function, in a copy of the checkout. The tests that
execute its line run against it, by the contexts in the coverage data; the folders of other tests can be named as well.
A mutant is killed if one of them fails or takes too long. To compare two states of the tests, run both on the same
mutants: one whose line is no longer there is reported as gone.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
NO_PRODUCT = ("tests", "tools", "benchmarks", "docs", "setup.py")
NOT_COPIED = (".git", ".venv", "build", "*_cache", "__pycache__")
MAX_SECONDS = 600  # of the tests of one mutant
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
}
Verdict = Literal["killed", "survived", "gone", "not executed"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of the text of an expression on one line."""

    file: str
    line: int
    source: str  # the whole line, without the white space around it
    before: str
    after: str


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Yield the mutants of a module: those of expressions that are inside functions and on one line."""
    lines = text.splitlines()
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    if isinstance(node, ast.expr) and node.lineno == node.end_lineno:
                        before = ast.get_source_segment(text, node) or ""
                        for after in _changed(node):
                            yield Mutant(file, node.lineno, lines[node.lineno - 1].strip(), before, after)


def _changed(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare(left, [operator], [right]):
            yield ast.unparse(ast.Compare(left, [OPPOSITE[type(operator)]()], [right]))
        case ast.BoolOp(operator, values):
            yield ast.unparse(ast.BoolOp(ast.And() if isinstance(operator, ast.Or) else ast.Or(), values))
        case ast.BinOp(left, operator, right) if type(operator) in OTHER_OPERATOR:
            yield ast.unparse(ast.BinOp(left, OTHER_OPERATOR[type(operator)](), right))
        case ast.UnaryOp(ast.Not(), operand):
            yield ast.unparse(operand)
        case ast.Constant(bool() as value):
            yield str(not value)
        case ast.Constant(int() as value):
            yield str(value + 1)


def draw(count: int, seed: int) -> list[Mutant]:
    """Return mutants of the product, drawn by a seed: at most one of each line."""
    names = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True)
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for name in names.stdout.split():
        if not name.startswith(NO_PRODUCT):
            for each in mutants_of(name, (ROOT / name).read_text(encoding="utf-8")):
                by_line.setdefault((name, each.line), []).append(each)
    chosen = random.Random(seed)
    return [chosen.choice(by_line[line]) for line in chosen.sample(sorted(by_line), count)]


def place(mutant: Mutant, text: str) -> tuple[int, str] | None:
    """Return the number of the mutant's line in this text, and the changed text; None if the line is gone."""
    lines = text.split("\n")
    found = [number for number, line in enumerate(lines, 1) if line.strip() == mutant.source]
    if not found:
        return None
    number = min(found, key=lambda each: abs(each - mutant.line))
    lines[number - 1] = lines[number - 1].replace(mutant.before, f"({mutant.after})", 1)
    return number, "\n".join(lines)


def verdict(mutant: Mutant, data: CoverageData, more: Sequence[str]) -> Verdict:
    """Run the tests of a mutant in a copy of the checkout."""
    file = ROOT / mutant.file
    placed = place(mutant, file.read_text(encoding="utf-8"))
    if placed is None:
        return "gone"
    number, changed = placed
    contexts = data.contexts_by_lineno(str(file)).get(number, [])
    tests = sorted({test for each in contexts if (test := node_id(each)) is not None})
    if not tests and not more:
        return "not executed"
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(
            ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", "build", "*_cache", "__pycache__")
        )
        (copy / mutant.file).write_text(changed, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *more, *tests]
        try:
            done = subprocess.run(
                command,
                cwd=copy,
                env={**os.environ, "PYTHONPATH": str(copy)},
                capture_output=True,
                timeout=MAX_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "killed"
    return "survived" if done.returncode == 0 else "killed"


def node_id(context: str) -> str | None:
    """Return pytest's name of a test function, which coverage calls tests.room.test_file.test_name."""
    module, _, test = context.rpartition(".")
    path = f"{module.replace('.', '/')}.py"
    return f"{path}::{test}" if test.startswith("test_") and (ROOT / path).is_file() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--count", type=int, default=100)
    drawing.add_argument("--seed", type=int, default=42)
    running = commands.add_parser("run")
    running.add_argument("mutants", type=Path)
    running.add_argument("--coverage", default=str(ROOT / "build" / "mutants.coverage"))
    running.add_argument("--tests", nargs="*", default=[], help="run these for every mutant, too")
    options = parser.parse_args()
    if options.command == "draw":
        for each in draw(options.count, options.seed):
            print(json.dumps(asdict(each)))
        return
    data = CoverageData(options.coverage)
    data.read()
    for line in options.mutants.read_text(encoding="utf-8").splitlines():
        mutant = Mutant(**json.loads(line))
        print(json.dumps({**asdict(mutant), "verdict": verdict(mutant, data, options.tests)}), flush=True)


if __name__ == "__main__":
    main()
