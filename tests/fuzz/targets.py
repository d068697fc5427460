"""The names of all targets, and what they call, which is imported only when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

Target = Callable[[bytes, bool], None]  # takes the input, and whether to compare with plain Python

CORE = (
    *("canonical_text", "word_tokens", "fingerprints", "shingles", "passages", "phrase_offsets", "visible_text"),
    *("word_runs", "symbols", "from_parts", "rare_grams", "window_minima"),
)
CORE_BYTES = (
    *("word_index", "find_word", "document_frequencies", "merged_segments", "boolean_scorer", "minhashes"),
    *("hash_sets", "postings", "packed", "pairs", "repeated"),
)
FILES = ("html", "encoding", "http_body", "query", "warc", "arc", "wacz", "zip", "jsonl", "csv", "parquet", "store")
GATEWAY = ("bulk", "msearch", "search", "filter_path", "routes", "headers", "gzip")
MODULES = {"core_targets": CORE, "core_bytes_targets": CORE_BYTES, "file_targets": FILES, "gateway_targets": GATEWAY}
ALL = tuple(name for names in MODULES.values() for name in names)


def target_and_seeds(name: str) -> tuple[Target, Sequence[bytes]]:
    """Return the target `name` and the inputs that its corpus begins with."""
    (module,) = (module for module, names in MODULES.items() if name in names)
    target, seeds = import_module(f"tests.fuzz.{module}").TARGETS[name]
    return target, seeds() if callable(seeds) else seeds
