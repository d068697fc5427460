"""Fuzzes one target with atheris: python -m tests.fuzz.one_target NAME FOLDER [options of libFuzzer]."""

from __future__ import annotations

import atexit
import hashlib
import signal
import sys
from pathlib import Path

from tests.fuzz.targets import CORE, CORE_BYTES, GATEWAY, target_and_seeds

COMPARED = 64  # compare each 64th execution with plain Python, which is slow; and each input of the corpus at the start
# Of an input: few where it is tried millions of times.
MAX_BYTES = dict.fromkeys(GATEWAY, 1_024) | dict.fromkeys((*CORE, *CORE_BYTES, "filter_path"), 160)
MAX_FILE_BYTES = 1 << 18
INSTRUMENTED = [f"opensearch_winnow.{room}" for room in ("gateway", "index", "ingest", "queries", "stores", "mappings")]


def main() -> None:
    import atheris  # noqa: PLC0415 (only this process has it)

    name, folder, *options = sys.argv[1:]
    with atheris.instrument_imports(include=INSTRUMENTED, enable_loader_override=False):
        target, seeds = target_and_seeds(name)
    for seed in seeds:
        Path(folder, hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    for path in sorted(Path(folder).iterdir()):
        target(path.read_bytes(), True)
    executions = 0

    def execute(data: bytes) -> None:
        nonlocal executions
        executions += 1
        target(data, executions % COMPARED == 0)

    max_bytes = MAX_BYTES.get(name, MAX_FILE_BYTES)
    fixed = ["-reduce_inputs=0", "-rss_limit_mb=4096", "-timeout=60", f"-max_len={max_bytes}"]
    options = [option.replace("-runs=", "-atheris_runs=") for option in options]
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # libFuzzer's clock kills a process that is slow to end
    atheris.Setup([sys.argv[0], folder, f"-artifact_prefix={folder}-", *fixed, *options], execute)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
