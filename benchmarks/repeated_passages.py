"""Passages that several texts of a set have: cutting them out of rows."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.generated_pages import PASSAGES, passage, words
from benchmarks.own_process import in_own_process
from benchmarks.table import Run, Table, percent
from opensearch_winnow.operations.sets.passage_run import repeated_passages

ROWS = (10_000, 100_000, 1_000_000)
ROW_WORDS = 300  # about 2 kB


def tables(run: Run) -> Iterator[Table]:
    rows = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        for count in ROWS:
            count = run.size(count, least=200)
            path = folder / "rows.jsonl"
            with path.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps({"id": str(number), "text": row(number)}) + "\n" for number in range(count))
            size = path.stat().st_size
            result, taken = in_own_process(_prepared, str(path))
            rows.append(
                (
                    f"{count:,}",
                    f"{size / 1e6:,.0f}",
                    f"{taken.cpu:,.1f}",
                    f"{1e6 * taken.cpu / count:,.0f}",
                    f"{taken.memory / 1e6:,.0f}",
                    f"{result['passages']:,}",
                    percent(result["characters_in_passages"] / result["characters"], 1),
                )
            )
    note = (
        "Aim: a million rows within 2 GB of memory. What `winnow dedup --passages` does: read JSON lines, cut all "
        f"occurrences but the first, and write the rows. A row has about {ROW_WORDS} random words; one in three quotes "
        f"one of {PASSAGES:,} passages of 60 words."
    )
    columns = ("rows", "MB", "CPU, s", "µs per row", "memory, MB", "passages", "of the text")
    yield Table("Rows without repeated passages", columns, rows, note)


def row(number: int) -> str:
    random = Random(number)
    own = words(random, ROW_WORDS)
    if number % 3 == 0:
        own[100:100] = _passage(int(PASSAGES ** random.random()))
    return " ".join(own)


_passage = cache(passage)


def _prepared(path: str) -> Callable[[], dict[str, int]]:
    return lambda: repeated_passages(path, f"{path}.out.jsonl", overwrite=True).to_dict()
