"""Fuzzes one target with atheris: python -m tests.fuzz.one_target NAME FOLDER [options of libFuzzer]."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from tests.fuzz.target_names import CORE

COMPARED = 64  # compare each 64th execution with plain Python, which is slow; and each input of the corpus at the start
MAX_BYTES = {True: 160, False: 1 << 18}  # of an input: for the core few, because it is tried ten million times
INSTRUMENTED = [f"opensearch_winnow.{room}" for room in ("index", "ingest", "queries", "stores", "mappings")]


def main() -> None:
    import atheris  # noqa: PLC0415 (only this process has it)

    name, folder, *options = sys.argv[1:]
    with atheris.instrument_imports(include=INSTRUMENTED, enable_loader_override=False):
        from tests.fuzz.targets import target_and_seeds  # noqa: PLC0415 (to be instrumented)

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

    fixed = ["-reduce_inputs=0", "-rss_limit_mb=4096", "-timeout=60", f"-max_len={MAX_BYTES[name in CORE]}"]
    options = [option.replace("-runs=", "-atheris_runs=") for option in options]
    atheris.Setup([sys.argv[0], folder, f"-artifact_prefix={folder}-", *fixed, *options], execute)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
