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
# In the order of the way in, then what is about more than speed.
USUAL = (
    "canonical_text",
    "winnowing",
    "choices",
    "adversarial",
    "sketches_vs_peers",
    "grouping",
    "front_door",
    "memory",
    "extraction",
    "html_to_record",
    "store_cost",
    "words",
    "store",
    "web",
)
ON_REQUEST = (
    "store_million",  # 25 minutes, and 14 GB
    "clusters",  # up to a million records too
    "choosing",  # no speed either: what docs/choosing.md shows
    "quality",  # no speed: it is the same on every machine
    "opensearch_bulk",  # these start an engine: a real OpenSearch
    "opensearch_questions",
    "opensearch_search",
    "minhash_error",  # a study of minutes, whose result stands in docs/decisions/0004-sketches.md
)


def section(name: str, run: Run) -> str:
    """What README.md says about a benchmark, printed as it comes."""
    benchmark = import_module(f"benchmarks.{name}")
    parts = [f"## {name}", str(benchmark.__doc__).split("\n\n")[0].strip()]
    print("\n\n".join(parts), flush=True)
    for table in benchmark.tables(run):
        parts.append(table.markdown())
        print(f"\n{parts[-1]}", flush=True)
    parts.append(f"*{machine()}*")
    return "\n\n".join(parts) + "\n"


def write(sections: dict[str, str]) -> None:
    """Put sections in place of the old ones; what was not run stays."""
    introduction, *old = re.split(r"^(?=## )", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    kept = {part.split(maxsplit=2)[1]: part.rstrip() + "\n" for part in old} | sections
    order = [name for name in (*USUAL, *ON_REQUEST) if name in kept]
    README.write_text("\n".join([introduction.rstrip() + "\n", *(kept[name] for name in order)]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "name", nargs="*", help=f"{', '.join(USUAL)} (all of these without a name); {', '.join(ON_REQUEST)}"
    )
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of the usual work to do, to try things out")
    parser.add_argument("--offline", action="store_true", help="do without peers that would have to be downloaded")
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
