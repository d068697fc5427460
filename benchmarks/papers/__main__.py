"""Runs the experiments of the papers on real pages, and writes docs/papers.

    python -m benchmarks.papers [--quick] [PAPER…]

Each figure is compared with its tolerance. A run with a figure outside fails and names it.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path

from benchmarks.papers.page import PAPERS, PaperPage, index_page
from benchmarks.papers.part import Part
from benchmarks.papers.run import PaperRun

DOCS = Path(__file__).resolve().parent.parent.parent / "docs" / "papers"


def run_paper(name: str, run: PaperRun) -> PaperPage:
    """Run the experiments of a paper, and say on standard error which one is running."""
    module = import_module(f"benchmarks.papers.{name}")
    parts: list[Part] = []
    start = time.monotonic()
    print(f"{name}: {module.TITLE}", file=sys.stderr, flush=True)
    for number, part in enumerate(module.parts(run), 1):
        parts.append(part)
        took, start = time.monotonic() - start, time.monotonic()
        print(f"  {number}. {part.title} ({took:.1f} s)", file=sys.stderr, flush=True)
    return PaperPage(name, module.TITLE, module.INTRODUCTION, parts, run)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__.splitlines()[0])
    parser.add_argument("paper", nargs="*", help=f"{', '.join(PAPERS)} (all of these without a name)")
    parser.add_argument("--quick", action="store_true", help="run a smaller version, and write nothing")
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.paper if name not in PAPERS]:
        parser.error(f"no paper {', '.join(unknown)}; there are {', '.join(PAPERS)}")
    outside = []
    for name in chosen.paper or PAPERS:
        page = run_paper(name, PaperRun(quick=chosen.quick))
        outside += [f"{name}, {part.title}: {check}" for part in page.parts for check in part.checks if not check.holds]
        if not chosen.quick:
            page.write(DOCS)
            (DOCS / "README.md").write_text(index_page(), encoding="utf-8")
    for line in outside:
        print(f"outside its tolerance: {line}", file=sys.stderr)
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
