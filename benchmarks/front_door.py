"""What a caller waits for: `fingerprint` and `compare` of whole texts, everything included."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.corpus import source, text
from benchmarks.table import Run, Table
from benchmarks.timing import alternate
from opensearch_winnow import compare, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEXTS = 400  # different ones: one alone would be known to the processor by heart


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


def slices(length: int, number: int) -> list[str]:
    whole = text(length * number)
    return [whole[start : start + length] for start in range(0, length * number, length)]


def each(function: Callable[..., object], *texts: list[str]) -> None:
    for arguments in zip(*texts, strict=True):
        function(*arguments)


def spans(of: str) -> list[tuple[int, int]]:
    return fingerprint(of).spans
