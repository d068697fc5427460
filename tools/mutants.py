"""Changes the product in small ways, and counts how many of these mutants the tests notice.

    python -m tools.mutants draw --count 100 --seed 42 > build/mutants.jsonl
    python -m tools.mutants plant build/mutants.jsonl build/planted
    (cd build/planted && python -m pytest -p planted_tests -n 2 --dist loadgroup)
    python -m tools.mutants run build/mutants.jsonl build/planted > build/verdicts.jsonl

Each mutant changes one operator, constant or condition inside a function. `plant` makes a copy of the checkout that has
all of them, asleep: the tests run as usual there, in as many runs as one likes, and record which of them reach which
mutant, in processes that they start, too. `run` wakes one mutant after the other, for the tests that reach it: first
those that take a few seconds together and start no engine and no browser, then, if it survives these, the others, the
quickest first. A mutant is killed if one of them fails or takes too long. To compare two states of the tests, do this
in both with the same mutants: one whose line is no longer there is reported as gone.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NO_PRODUCT = ("tests", "tools", "benchmarks", "docs", "setup.py")
NOT_COPIED = (".git", ".venv", "build", "*_cache", "__pycache__")
# Seconds that the tests of a round took without the mutant. Most mutants do not survive the first round.
ROUNDS = (10, 240)
STARTS_MUCH = re.compile("opensearch|engine|gateway|spark|tests/web/")  # tests that are left to the second round
PATIENCE = 4  # a mutant that makes the tests take longer by this factor is noticed
MIN_PATIENCE_SECONDS = 120  # an engine has to start first
MAX_IMPORT_TESTS = 100  # that run against a mutant that is reached before any test begins
REACHED, TESTED, GONE = "planted.reached", "planted.tested", "planted.gone"
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
Verdict = Literal["killed", "survived", "gone", "not reached"]

# What the copy has beside the product: a module that wakes mutants, and a plugin of pytest that times the tests.
PLANTED = """
import os
from contextlib import suppress

AWAKE = int(os.environ.get("MUTANT", "-1"))
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
seen = set()


def mutant(number):
    if AWAKE < 0:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        if (number, test) not in seen:
            seen.add((number, test))
            with suppress(OSError), open(os.path.join(FOLDER, "planted.reached"), "a") as file:
                file.write(f"{number}\\t{test}\\n")
    return number == AWAKE
"""
PLANTED_TESTS = """
import json
import os
from pathlib import Path


def pytest_runtest_logreport(report):
    if "PYTEST_XDIST_WORKER" not in os.environ and (report.failed or report.when == "call"):
        facts = {"test": report.nodeid.partition("@")[0], "passed": report.passed, "seconds": report.duration}
        with Path(__file__).with_name("planted.tested").open("a") as file:
            file.write(json.dumps(facts) + "\\n")
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of the text of an expression on one line."""

    file: str
    line: int
    source: str  # the whole line, without the white space around it
    column: int  # in the source
    before: str
    after: str


class Tested(NamedTuple):
    """What a run without mutants has shown: the seconds of each test that passed, and who reaches which mutant."""

    seconds: dict[str, float]
    reached: dict[int, set[str]]

    @classmethod
    def read(cls, planted: Path) -> Tested:
        seconds: dict[str, float] = {}
        failed: set[str] = set()
        for line in (planted / TESTED).read_text(encoding="utf-8").splitlines():
            facts = json.loads(line)
            seconds[facts["test"]] = facts["seconds"]
            if not facts["passed"]:
                failed.add(facts["test"])
        reached: dict[int, set[str]] = {}
        for line in (planted / REACHED).read_text(encoding="utf-8").splitlines():
            number, _, test = line.partition("\t")
            reached.setdefault(int(number), set()).add(test.partition("@")[0])
        return cls({test: taken for test, taken in seconds.items() if test not in failed}, reached)

    def rounds(self, number: int) -> Iterator[list[str]]:
        """Yield the tests that reach a mutant, the quickest first: a few, then as many as the second round allows."""
        quickest = sorted(self.seconds, key=lambda test: self.seconds[test])
        reaching = self.reached.get(number, set())
        chosen = [test for test in quickest if test in reaching]
        if "" in reaching:  # while modules are imported
            chosen += [test for test in quickest[-MAX_IMPORT_TESTS:] if test not in reaching]
        first = self._within([test for test in chosen if not STARTS_MUCH.search(test)], ROUNDS[0])
        yield first
        yield self._within([test for test in chosen if test not in first], ROUNDS[1])

    def _within(self, tests: list[str], seconds: float) -> list[str]:
        """Return the first tests that took no longer than `seconds` together, but at least one."""
        total = 0.0
        return [test for test in tests if (total := total + self.seconds[test]) <= seconds or test == tests[0]]


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Yield the mutants of a module: those of expressions that are inside functions and on one line."""
    lines = text.splitlines()
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    if isinstance(node, ast.expr) and node.lineno == node.end_lineno:
                        line = lines[node.lineno - 1]
                        column = len(line.encode()[: node.col_offset].decode()) - len(line) + len(line.lstrip())
                        before = line.encode()[node.col_offset : node.end_col_offset].decode()
                        for after in _changed(node):
                            yield Mutant(file, node.lineno, line.strip(), column, before, after)


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
    drawn = random.Random(seed)
    mutants = (drawn.choice(by_line[line]) for line in drawn.sample(sorted(by_line), len(by_line)))
    fitting = (each for each in mutants if planted(each, 0, (ROOT / each.file).read_text(encoding="utf-8")))
    return list(islice(fitting, count))


def planted(mutant: Mutant, number: int, text: str) -> str | None:
    """Return a module with a mutant in it, asleep; None if its line is gone, or cannot have one."""
    lines = text.split("\n")
    found = [index for index, line in enumerate(lines) if line.strip() == mutant.source]
    if not found:
        return None
    index = min(found, key=lambda each: abs(each + 1 - mutant.line))
    line = lines[index]
    start = len(line) - len(line.lstrip()) + mutant.column
    end = start + len(mutant.before)
    awake = (
        f"(({mutant.after}) if __import__('opensearch_winnow.planted').planted.mutant({number}) else ({mutant.before}))"
    )
    lines[index] = line[:start] + awake + line[end:]
    changed = "\n".join(lines)
    try:
        ast.parse(changed)
    except SyntaxError:  # for example, the same quotes in an f-string
        return None
    return changed


def plant(mutants: list[Mutant], copy: Path) -> None:
    """Copy the checkout, and plant all mutants there."""
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (copy / "opensearch_winnow" / "planted.py").write_text(PLANTED, encoding="utf-8")
    (copy / "planted_tests.py").write_text(PLANTED_TESTS, encoding="utf-8")
    gone = []
    for number, mutant in enumerate(mutants):
        file = copy / mutant.file
        text = planted(mutant, number, file.read_text(encoding="utf-8")) if file.is_file() else None
        if text is None:
            gone.append(number)
        else:
            file.write_text(text, encoding="utf-8")
    (copy / GONE).write_text(json.dumps(gone), encoding="utf-8")


def notices(number: int, tests: list[str], copy: Path, usual_seconds: float) -> bool:
    """Return whether one of the tests fails, or takes too long, with a mutant awake."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "check or not check"]
    environment = {**os.environ, "PYTHONPATH": str(copy), "MUTANT": str(number)}
    timeout = max(PATIENCE * usual_seconds, MIN_PATIENCE_SECONDS)
    try:
        done = subprocess.run(
            [*command, *tests], cwd=copy, env=environment, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in (0, 1):
        raise RuntimeError(f"mutant {number}: {done.stdout.decode()[-2000:]}{done.stderr.decode()[-2000:]}")
    return done.returncode == 1


def verdict(number: int, tested: Tested, copy: Path) -> Verdict:
    """Run tests with a mutant awake, until one notices it."""
    found: Verdict = "not reached"
    for tests in filter(None, tested.rounds(number)):
        found = "survived"
        if notices(number, tests, copy, sum(tested.seconds[each] for each in tests)):
            return "killed"
    return found


def run(mutants: list[Mutant], copy: Path, jobs: int, only: set[int]) -> Iterator[tuple[int, Verdict]]:
    """Yield the verdict on each mutant."""
    tested = Tested.read(copy)
    gone = set(json.loads((copy / GONE).read_text(encoding="utf-8")))

    def judge(number: int) -> tuple[int, Verdict]:
        return number, "gone" if number in gone else verdict(number, tested, copy)

    with ThreadPoolExecutor(jobs) as threads:
        yield from threads.map(judge, [each for each in range(len(mutants)) if not only or each in only])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--count", type=int, default=100)
    drawing.add_argument("--seed", type=int, default=42)
    planting = commands.add_parser("plant")
    running = commands.add_parser("run")
    for each in (planting, running):
        each.add_argument("mutants", type=Path)
        each.add_argument("copy", type=Path)
    running.add_argument("--jobs", type=int, default=2)
    running.add_argument("--only", type=int, nargs="*", default=[], help="the numbers of mutants, from 0")
    options = parser.parse_args()
    if options.command == "draw":
        for mutant in draw(options.count, options.seed):
            print(json.dumps(asdict(mutant)))
        return
    mutants = [Mutant(**json.loads(line)) for line in options.mutants.read_text(encoding="utf-8").splitlines()]
    if options.command == "plant":
        plant(mutants, options.copy.resolve())
        return
    for number, found in run(mutants, options.copy.resolve(), options.jobs, set(options.only)):
        print(json.dumps({"number": number, **asdict(mutants[number]), "verdict": found}), flush=True)


if __name__ == "__main__":
    main()
