"""How good a MinHash of 512 bytes is with many bins of few bits or few bins of many: docs/decisions/0004-sketches.md.

    python -m benchmarks minhash_error

For pages of random shingles: bias and standard error of the estimated resemblance; the time it takes to make a MinHash
and to compare two; the errors of optimal densification, which was tried too; and how often two pages share a band.
"""

from __future__ import annotations

from array import array
from functools import partial
from random import Random
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from benchmarks.table import Run, Table
from benchmarks.timing import alternate
from opensearch_winnow.cython_core.estimates import minhash_resemblance, minhash_resemblances
from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from tests.cython_core.reference import STEP, WORD, mix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BYTES = 512
BINS = {bits: BYTES * 8 // bits for bits in (16, 8, 4, 2, 1)}
SIZES = (20, 100, 300, 1_000, 5_000)
RESEMBLANCES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95)


def tables(run: Run) -> Iterator[Table]:
    count = run.size(2_000, least=20)
    yield errors_of_the_widths(count)
    yield times_of_the_widths()
    yield errors_of_the_fillings(count // 4)
    yield curve_of_the_bands(count)


def pairs(count: int, size: int, resemblance: float) -> Iterator[tuple[array[int], array[int], float]]:
    """Yield two pages of `size` shingles, and their resemblance, which is as close to `resemblance` as possible."""
    random = Random(size)
    common = round(2 * size * resemblance / (1 + resemblance))
    alone = size - common
    for _ in range(count):
        union = array("Q", random.randbytes(8 * (size + alone)))
        yield union[:size], union[alone:], common / (size + alone)


def difference(a: bytes, b: bytes, bits: int, truth: float) -> float:
    return minhash_resemblance(a, b, bits).value - truth


def cell(differences: list[float]) -> str:
    """Return the standard error, and the bias in standard errors of the mean."""
    bias, error = fmean(differences), pstdev(differences)
    return f"{error:.4f} ({bias / (error or 1) * len(differences) ** 0.5:+.1f})"


def errors_of_the_widths(count: int) -> Table:
    rows = []
    for size in SIZES:
        for resemblance in RESEMBLANCES:
            differences: dict[int, list[float]] = {bits: [] for bits in BINS}
            for a, b, truth in pairs(count, size, resemblance):
                for bits, bins in BINS.items():
                    both = pack(minhash(a, bins), bits), pack(minhash(b, bins), bits)
                    differences[bits].append(difference(*both, bits, truth))
            rows.append((f"{size:,}", str(resemblance), *map(cell, differences.values())))
    return Table(
        f"Standard error of the estimate (bias, in standard errors of the mean), {count} pairs",
        ("shingles", "resemblance", *(f"{bins} × {bits} bit" for bits, bins in BINS.items())),
        rows,
    )


def make_all(pages: list[array[int]], bins: int, bits: int) -> list[bytes]:
    return [pack(minhash(page, bins), bits) for page in pages]


def times_of_the_widths() -> Table:
    random = Random(0)
    many = random.randbytes(BYTES * 20_000)
    # Many different pages, to defeat branch prediction.
    pages = {size: [array("Q", random.randbytes(8 * size)) for _ in range(20_000 // size)] for size in SIZES}
    rows = []
    for bits, bins in BINS.items():
        candidates: dict[str, Callable[[], object]] = {
            str(size): partial(make_all, pages[size], bins, bits) for size in SIZES
        }
        times = alternate(candidates | {"compare": partial(minhash_resemblances, many[:BYTES], many, bits)})
        micros = [f"{times[str(size)] / len(pages[size]) * 1e6:.1f}" for size in SIZES]
        rows.append((f"{bins} × {bits} bit", *micros, f"{times['compare'] / 20_000 * 1e9:.0f}"))
    return Table(
        "µs for a packed MinHash, by the shingles of the page; ns to compare two",
        ("", *(f"{size:,} shingles" for size in SIZES), "compare"),
        rows,
    )


def optimal_densification(shingles: array[int], bins: int) -> array[int]:
    """Fill each empty bin with the value of a random bin, drawn until one is found that is not empty."""
    values = [WORD] * bins
    for shingle in shingles:
        at = shingle * bins >> 64
        values[at] = min(values[at], shingle)
    dense = values.copy()
    for at in range(bins):
        attempt = 0
        while dense[at] == WORD:
            attempt += 1
            dense[at] = values[mix((at << 32) + attempt * STEP & WORD) * bins >> 64]
    return array("Q", dense)


def errors_of_the_fillings(count: int, bits: int = 4) -> Table:
    bins = BINS[bits]
    rows = []
    for size in SIZES[:-1]:
        for resemblance in (0.5, 0.9):
            rounds, copies = [], []
            for a, b, truth in pairs(count, size, resemblance):
                both = pack(minhash(a, bins), bits), pack(minhash(b, bins), bits)
                rounds.append(difference(*both, bits, truth))
                dense = pack(optimal_densification(a, bins), bits), pack(optimal_densification(b, bins), bits)
                copies.append(difference(*dense, bits, truth))
            rows.append((f"{size:,}", str(resemblance), cell(rounds), cell(copies)))
    return Table(
        f"Standard error (bias) of {bins} × {bits} bit, by how empty bins are filled, {count} pairs",
        ("shingles", "resemblance", "rounds", "optimal densification"),
        rows,
    )


def curve_of_the_bands(count: int, number: int = 20, rows: int = 5) -> Table:
    lines = []
    for resemblance in RESEMBLANCES:
        shares = []
        for size in SIZES:
            met = [
                not set(bands(minhash(a), number, rows)).isdisjoint(bands(minhash(b), number, rows))
                for a, b, _ in pairs(count, size, resemblance)
            ]
            shares.append(f"{fmean(met):.3f}")
        lines.append((str(resemblance), f"{1 - (1 - resemblance**rows) ** number:.3f}", *shares))
    return Table(
        f"Share of pairs with an equal band, {number} bands of {rows} rows, {count} pairs",
        ("resemblance", "`1 - (1 - J**rows)**count`", *(f"{size:,} shingles" for size in SIZES)),
        lines,
    )
