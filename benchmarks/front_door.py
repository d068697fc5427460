"""What a caller waits for: the import, and whole calls of `fingerprint` and `compare`."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.corpus import source, text
from benchmarks.table import Run, Table
from benchmarks.timing import alternate
from opensearch_winnow import compare, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

IMPORTS = (
    "from opensearch_winnow.clients import group_hits, winnow_fields",
    "from opensearch_winnow import Scheme, compare, fingerprint",
    "from opensearch_winnow import Index",
    "from lxml import etree",  # another package, for comparison
)
CPU_SECONDS = "import time; start = time.process_time(); {statement}; print(time.process_time() - start)"
TEXTS = 400  # different texts, to defeat branch prediction


def tables(run: Run) -> Iterator[Table]:
    texts = run.size(TEXTS, least=3)
    short = slices(1_000, texts)
    one, other = slices(5_000, texts), slices(5_000, texts + 1)[1:]
    half = [a[:1_250] + b[1_250:3_750] + a[3_750:] for a, b in zip(one, other, strict=True)]
    seconds = alternate(
        {
            "fingerprint(1 kB)": partial(each, fingerprint, short),
            "fingerprint(1 kB).spans": partial(each, spans, short),
            "compare(5 kB, an unrelated 5 kB)": partial(each, compare, one, other),
            "compare(5 kB, 5 kB with another middle half)": partial(each, compare, one, half),
            "compare(5 kB, the same)": partial(each, compare, one, one),
        },
        rounds=9,
    )
    yield Table(
        f"The default scheme, {texts} texts in turn",
        ("", "µs"),
        [(name, f"{taken / texts * 1e6:.1f}") for name, taken in seconds.items()],
        f"Aim: 30 µs for the fingerprints of 1 kB. {source()}",
    )
    rounds = run.size(21, least=1)
    imports = {statement: min(import_seconds(statement) for _ in range(rounds)) for statement in IMPORTS}
    yield Table(
        "An import, in a new process",
        ("", "ms of CPU time"),
        [(f"`{statement}`", f"{taken * 1e3:.0f}") for statement, taken in imports.items()],
        f"Aim: 60 ms for the first. The best of {rounds} runs, without the start of Python itself.",
    )


def import_seconds(statement: str) -> float:
    command = [sys.executable, "-c", CPU_SECONDS.format(statement=statement)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def slices(length: int, number: int) -> list[str]:
    whole = text(length * number)
    return [whole[start : start + length] for start in range(0, length * number, length)]


def each(function: Callable[..., object], *texts: list[str]) -> None:
    for arguments in zip(*texts, strict=True):
        function(*arguments)


def spans(of: str) -> list[tuple[int, int]]:
    return fingerprint(of).spans
