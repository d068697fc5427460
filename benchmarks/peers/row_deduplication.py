"""Peers that deduplicate a file of JSON lines, called as their users would call them.

Each peer returns a function that reads a file, writes the rows it keeps to a folder, and returns the ids of these.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

from benchmarks.peers.missing import MissingError
from benchmarks.peers.text_clusters import OUR_BANDS, SEED, THRESHOLD
from benchmarks.sketches_vs_peers import PERMUTATIONS, WIDTH, peer_shingles
from opensearch_winnow.clusters.options import Linkage

# The choice of datasketch for this threshold, because datatrove verifies nothing.
DATATROVE_BANDS, DATATROVE_ROWS = 25, 5

Deduplicate = Callable[[Path, Path], set[str]]  # takes the file and a folder to write to


def rensa() -> Deduplicate:
    """Make, insert and look up all rows in batches, and keep each row that resembles no row kept before it."""
    from rensa import RMinHash, RMinHashLSH  # noqa: PLC0415

    def deduplicate(source: Path, folder: Path) -> set[str]:
        lines = source.read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        minhashes = RMinHash.from_token_sets((peer_shingles(row["text"]) for row in rows), PERMUTATIONS, SEED)
        index = RMinHashLSH(THRESHOLD, PERMUTATIONS, OUR_BANDS)
        index.insert_many(minhashes)
        kept: set[int] = set()
        with (folder / "kept.jsonl").open("w", encoding="utf-8") as file:
            for number, (minhash, others) in enumerate(zip(minhashes, index.query_all(minhashes), strict=True)):
                if not any(other in kept and minhash.jaccard(minhashes[other]) >= THRESHOLD for other in others):
                    kept.add(number)
                    file.write(lines[number] + "\n")
        return {rows[number]["id"] for number in kept}

    return deduplicate


def datatrove() -> Deduplicate:
    """Run its four steps one after the other, which takes the same work as its executor does."""
    os.environ["TQDM_DISABLE"] = "1"
    steps = import_module("datatrove.pipeline.dedup.minhash")
    reader = import_module("datatrove.pipeline.readers").JsonlReader
    writer = import_module("datatrove.pipeline.writers").JsonlWriter
    import_module("loguru").logger.remove()
    try:
        import_module("datatrove.utils.hashes.xxhash").xxhash64("")
    except TypeError:
        raise MissingError("it needs an xxhash before 4") from None

    def deduplicate(source: Path, folder: Path) -> set[str]:
        config = steps.MinhashConfig(WIDTH, DATATROVE_BANDS, DATATROVE_ROWS)
        signatures, pairs, found, kept = (f"{folder}/{name}" for name in ("signatures", "pairs", "found", "kept"))

        def rows() -> object:
            return reader(str(source.parent), glob_pattern=source.name, doc_progress=False)()

        # A language without its own tokenizer, because others need spaCy; str.split is faster.
        sign = steps.MinhashDedupSignature(signatures, config, language="bal")
        sign.word_tokenizer = SimpleNamespace(word_tokenize=str.split)
        sign.run(rows())
        for band in range(DATATROVE_BANDS):
            steps.MinhashDedupBuckets(signatures, pairs, config=config).run(None, band, DATATROVE_BANDS)
        steps.MinhashDedupCluster(pairs, found, config=config).run()
        for _ in writer(kept, compression=None).run(steps.MinhashDedupFilter(found).run(rows())):
            pass
        (file,) = Path(kept).iterdir()
        return {json.loads(line)["id"] for line in file.read_text(encoding="utf-8").splitlines()}

    return deduplicate


def text_dedup() -> Deduplicate:
    """Call its command, with the faster of its hashes."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
    command, datasets = import_module("text_dedup.minhash").main, import_module("datasets")
    datasets.disable_progress_bars()
    import_module("logging").disable()

    def deduplicate(source: Path, folder: Path) -> set[str]:
        options = {
            "--path": "json",
            "--data_files": source,
            "--split": "train",
            "--cache_dir": folder / "cache",
            "--output": folder / "kept",
            "--column": "text",
            "--ngram": WIDTH,
            "--min_length": 0,
            "--num_perm": PERMUTATIONS,
            "--threshold": THRESHOLD,
            "--hash_func": "xxh3",
            "--hash_bits": 32,
        }
        command([str(word) for option in options.items() for word in option], standalone_mode=False)
        return set(datasets.load_from_disk(str(folder / "kept"))["id"])

    return deduplicate


PEERS: dict[str, Callable[[], Deduplicate]] = {"rensa": rensa, "datatrove": datatrove, "text-dedup": text_dedup}
LINKAGE: dict[str, Linkage] = {"rensa": "representatives", "datatrove": "components", "text-dedup": "components"}
