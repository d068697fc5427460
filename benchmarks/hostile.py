"""What it takes to index sources that were made to exhaust memory, disk or time, each beside an ordinary page.

`winnow index` runs with one worker, in a process of its own. The memory is the peak of each of both processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.hostile_inputs import hostile_inputs
from benchmarks.table import Run, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDINARY = '{"url": "http://example.org/ordinary", "text": "An ordinary page beside the hostile one."}\n'
PIPED_BYTES = 1_000_000_000  # the limit for standard input, so that the benchmark writes no more

# Prints the counts, then the CPU seconds, and the peak memory of this process and of its largest worker.
COMMAND = """
import contextlib, json, re, resource, sys
from pathlib import Path
from opensearch_winnow.cli import main
from opensearch_winnow.ingest.sources.parquet_footer import FOOTER_PROGRAM

with contextlib.suppress(SystemExit):
    main(["index", *sys.argv[1:], "--store", "a.winnow", "--workers", "1", "--quiet", "--json"])
FOOTER_PROGRAM.end()  # so that it counts as a child
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
parent = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
print(json.dumps([sum(each.ru_utime + each.ru_stime for each in used), parent * 1024, used[1].ru_maxrss * 1024]))
"""


def tables(run: Run) -> Iterator[Table]:
    rows = []
    for name, make in hostile_inputs().items():
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work, "input")
            folder.mkdir()
            source = make(folder, run)
            size = source.stat().st_size
            rows.append((name, f"{size / 1e6:,.3f}", *measured(work, str(source))))
    with tempfile.TemporaryDirectory() as work, Path("/dev/zero").open("rb") as endless:
        limit = run.size(PIPED_BYTES, least=1_000_000)
        taken = measured(work, "-", "--max-stdin", str(limit), stdin=endless)
        rows.append((f"/dev/zero on standard input, limit {limit / 1e9:g} GB", "", *taken))
    yield Table(
        "One hostile source and one ordinary page",
        ("source", "MB on disk", "outcome", "CPU s", "parent, MB", "worker, MB"),
        rows,
        "The ordinary page was indexed in every run, except for the last, which is refused before it starts. CPU "
        "time is that of all processes, and includes their start. The worker is the largest process but the parent: "
        "for 200,000 columns, it is the program that reads footers.",
    )


def measured(work: str, *arguments: str, stdin: Any = subprocess.DEVNULL) -> tuple[str, str, str, str]:
    """Index a source beside an ordinary page, and return the cells: outcome, CPU time, and memory of both processes."""
    ordinary = Path(work, "ordinary.jsonl")
    ordinary.write_text(ORDINARY)
    command = [sys.executable, "-c", COMMAND, *arguments, str(ordinary)]
    done = subprocess.run(command, cwd=work, stdin=stdin, capture_output=True, text=True, check=True)
    *counts, last = done.stdout.splitlines()
    seconds, parent, worker = json.loads(last)
    return outcome(counts, done.stderr), f"{seconds:.1f}", f"{parent / 1e6:.0f}", f"{worker / 1e6:.0f}"


def outcome(counts: list[str], said: str) -> str:
    """Describe what became of the hostile source, and check that the ordinary page was indexed."""
    if not counts:
        return f"refused: {said.partition(':')[2].partition(',')[0].strip()}…"
    report = json.loads(counts[0])
    pages = report["indexed"] - 1
    assert pages >= 0, "the ordinary page was not indexed"
    parts = [f"{pages:,} indexed"] if pages else []
    for name in ("skipped", "failed"):
        parts += [f"{name}: {reason}" for reason in report["reasons"][name]]
    if report["damaged"]["places"]:
        reasons = [line.rpartition("(")[2].rstrip(")") for line in said.splitlines() if "could not be read (" in line]
        parts.append(f"not read: {reasons[0]}")
    return "; ".join(parts)
