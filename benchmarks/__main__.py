"""Runs benchmarks of opensearch-winnow and its peers.

    python -m benchmarks [NAME…] [--write] [--scale X] [--offline]

Candidates take turns and are measured in CPU time of one thread, so that other work on the machine does not spoil the
ratios. Keep figures only from a machine that is nearly idle.
"""

from __future__ import annotations

import argparse
import re
import time
from importlib import import_module
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.table import Run

README = Path(__file__).parent / "README.md"
# In the order in which a page is processed, then those about more than speed.
USUAL = (
    "winnowing",
    "sketches_vs_peers",
    "front_door",
    "memory",
    "extraction",
    "html_to_record",
    "hostile",
    "store_cost",
    "store",
    "long_questions",
    "web",
    "pairs",
    "fields",
)
ON_REQUEST = (
    "million",  # takes an hour and 40 GB
    "scale",  # not about speed: counts tokens of real pages, and simulates larger collections
    "clusters",  # also up to a million records
    "deduplication",  # also a million rows
    "repeated_passages",  # the same; takes a quarter of an hour and 8 GB
    "choosing",  # the tables of docs/choosing.md, not about speed
    "quality",  # not about speed: the same on every machine
    "contamination",  # about quality, too
    "koala",  # and this
    "relationship",  # and this
    "programs",  # and this
    "evasion",  # and this; takes a quarter of an hour, and draws the curves of docs/limits.md
    "locate",  # and this; starts a real OpenSearch, as all below do
    "opensearch_bulk",
    "opensearch_bytes",
    "opensearch_questions",
    "opensearch_search",
    "own_index",  # takes 15 minutes
    "curl_recipes",  # not about speed
    "gateway",  # takes some minutes
    "gateway_search",  # and this
)


def section(name: str, run: Run) -> str:
    """Run a benchmark, print its tables, and return its section of README.md."""
    benchmark = import_module(f"benchmarks.{name}")
    parts = [f"## {name}", str(benchmark.__doc__).split("\n\n")[0].strip()]
    print("\n\n".join(parts), flush=True)
    for table in benchmark.tables(run):
        parts.append(table.markdown())
        print(f"\n{parts[-1]}", flush=True)
    parts.append(f"*{machine()}*")
    return "\n\n".join(parts) + "\n"


def write(sections: dict[str, str]) -> None:
    """Replace sections of README.md, and keep those that were not run."""
    introduction, *old = re.split(r"^(?=## )", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    by_name = {part.split(maxsplit=2)[1]: part.rstrip() + "\n" for part in old} | sections
    order = [name for name in (*USUAL, *ON_REQUEST) if name in by_name]
    README.write_text("\n".join([introduction.rstrip() + "\n", *(by_name[name] for name in order)]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "name", nargs="*", help=f"{', '.join(USUAL)} (all of these without a name); {', '.join(ON_REQUEST)}"
    )
    parser.add_argument("--write", action="store_true", help="write the tables to benchmarks/README.md")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual work to do, to try things out")
    parser.add_argument("--offline", action="store_true", help="leave out peers that need a download")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.name if name not in USUAL + ON_REQUEST]:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(USUAL + ON_REQUEST)}")
    start = time.monotonic()
    sections = {}
    for name in arguments.name or USUAL:
        sections[name] = section(name, Run(arguments.scale, arguments.offline))
        print(flush=True)
    print(f"{machine()}\n{time.monotonic() - start:.0f} s in all")
    if arguments.write:
        write(sections)


if __name__ == "__main__":
    main()
