"""Fuzzes the targets, one process each, and reports executions, seconds and coverage: python -m tests.fuzz --runs N.

libFuzzer, driven by atheris, chooses inputs that reach new code. A bug stops its target and leaves the input in
the folder of the corpus; move it to tests/fuzz/inputs/TARGET, where the tests run it from then on.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.targets import ALL

SANITIZERS = {
    # Reported leaks would be those of the interpreter, and its stack traces take longer than the functions.
    "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=0:quarantine_size_mb=16:allocator_may_return_null=1",
    "PYTHONMALLOC": "malloc",  # each small object is a block of its own, whose ends the sanitizer watches
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: all of {', '.join(ALL)}")
    parser.add_argument("--runs", type=int, default=20_000, help="executions of each target (%(default)s)")
    parser.add_argument("--seconds", type=int, default=0, help="stop each target after this time (no limit)")
    parser.add_argument("--corpus", type=Path, default=Path("build/fuzz/corpus"), help="folder of inputs (%(default)s)")
    parser.add_argument("--preload", help="the sanitizer's library")
    options = parser.parse_args()
    environment = os.environ | SANITIZERS | ({"LD_PRELOAD": options.preload} if options.preload else {})
    print(f"{'entry point':22}{'executions':>12}{'seconds':>9}{'edges':>7}{'features':>10}{'inputs':>8}", flush=True)
    failed = []
    for name in options.targets or ALL:
        folder = options.corpus / name
        folder.mkdir(parents=True, exist_ok=True)
        log = options.corpus / f"{name}.log"
        command = [sys.executable, "-m", "tests.fuzz.one_target", name, str(folder), f"-runs={options.runs}"]
        command += [f"-max_total_time={options.seconds}"] * bool(options.seconds)
        began = time.monotonic()
        with log.open("wb") as output:
            status = subprocess.run(command, env=environment, stdout=output, stderr=output, check=False).returncode
        lines = log.read_text(errors="replace")
        counts = re.findall(r"^#(\d+)\s.*cov: (\d+) ft: (\d+) corp: (\d+)", lines, re.MULTILINE)
        runs, edges, features, inputs = counts[-1] if counts else ("0",) * 4
        done = re.search(r"^Done (\d+)", lines, re.MULTILINE)
        runs = done[1] if done else runs
        seconds = time.monotonic() - began
        found = "" if status == 0 else f"  exit status {status}: see {log}"
        print(f"{name:22}{int(runs):12,}{seconds:9.0f}{edges:>7}{features:>10}{inputs:>8}{found}", flush=True)
        failed += [name] * (status != 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
