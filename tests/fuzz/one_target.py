"""Fuzzes one target with atheris: python -m tests.fuzz.one_target NAME FOLDER [options of libFuzzer]."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

NAMES = (
    *("canonical_text", "word_tokens", "fingerprints", "shingles", "passages", "phrase_offsets", "visible_text"),
    *("word_index", "find_word", "document_frequencies", "merged_segments", "boolean_scorer", "minhashes"),
    *("from_parts", "window_minima", "hash_sets", "postings", "pairs"),
)
COMPARED = 64  # one of so many executions is compared with plain Python, which is slow; and every input of the corpus
MAX_BYTES = 160


def main() -> None:
    import atheris

    from tests.fuzz import core_bytes_targets, core_targets

    name, folder, *options = sys.argv[1:]
    target, seeds = (core_targets.TARGETS | core_bytes_targets.TARGETS)[name]
    for seed in seeds:
        Path(folder, hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    executions = 0

    def execute(data: bytes) -> None:
        nonlocal executions
        executions += 1
        target(data, executions % COMPARED == 0)

    atheris.Setup([sys.argv[0], folder, "-reduce_inputs=0", f"-max_len={MAX_BYTES}", "-rss_limit_mb=4096",
                   "-timeout=60", f"-artifact_prefix={folder}-", "-print_final_stats=1",
                   *(option.replace("-runs=", "-atheris_runs=") for option in options)], execute)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
