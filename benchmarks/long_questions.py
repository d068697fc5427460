"""Questions of up to nine million characters about any shared passage: CPU time by the length of the question."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.table import Run, Table
from benchmarks.unpacked_data import real_records
from opensearch_winnow.index import Index
from opensearch_winnow.stores.embedded import EmbeddedStore

MILLIONS = (0.5, 1, 2, 5, 9)  # characters; a question has at most 10 MB


def tables(run: Run) -> Iterator[Table]:
    records = real_records()
    random.Random(1).shuffle(records)
    text = "\n".join(record.text for record in records)
    rows = []
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        path = Path(folder, "pages.winnow")
        with EmbeddedStore.open(path, create=True) as store:
            for start in range(0, len(records), 1_000):
                store.write(records[start : start + 1_000])
        index = Index.open(path)
        for millions in MILLIONS:
            question = text[: run.size(int(millions * 1e6), least=2_000)]
            start_time = time.process_time()
            found = index.similar(text=question, min_containment=0)
            seconds = time.process_time() - start_time
            rows.append(
                (
                    f"{len(question) / 1e6:.1f}",
                    f"{found.candidates:,}",
                    f"{seconds:.2f}",
                    f"{seconds / (len(question) / 1e6):.2f}",
                )
            )
        index.close()
    yield Table(
        f"`similar` with `min_containment=0` on {len(records):,} real pages",
        ("million characters", "candidates", "CPU s", "per million"),
        rows,
        "The questions are pages of the store in random order. Each candidate is compared exactly.",
    )
