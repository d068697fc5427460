"""Winnowing of canonical text in one thread, compared with other implementations."""

from __future__ import annotations

import importlib.metadata
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.corpus import english, source
from benchmarks.peers.compiled import SIMD_MINIMIZERS, c_peer, simd_minimizers
from benchmarks.peers.missing import MissingError, available
from benchmarks.table import Run, Table, times
from benchmarks.timing import alternate
from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.vectors import use_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.peers.compiled import Winnow

SETTINGS = ((50, 100), (20, 21))  # of the winnowing paper for the Web, and of the preset "passages"
CHARACTERS = 12_000_000
SLOW_PART = 30  # a peer in Python gets a thirtieth of the text: half a second of work

OURS = "opensearch-winnow"
DEQUE = "monotone deque, in C"
CIRCULAR = "circular buffer of the paper's figure 5, in C"
SIMD = f"simd-minimizers {SIMD_MINIMIZERS}, in Rust"
COPYDETECT = "copydetect 0.5.0"
COPYDETECT_HASHES = f"{COPYDETECT}, its k-gram hashes alone"


def tables(run: Run) -> Iterator[Table]:
    chars = english(run.size(CHARACTERS, least=10_000))
    part = chars[: len(chars) // SLOW_PART]
    texts = {COPYDETECT: part, COPYDETECT_HASHES: part}
    found, missing = candidates(run)
    columns, rows = [""], {name: [name] for name in found}
    for k, w in SETTINGS:
        check_peers(found, part, k, w)
        seconds = alternate({name: partial(winnow, texts.get(name, chars), k, w) for name, winnow in found.items()})
        speeds = {name: len(texts.get(name, chars)) / seconds[name] / 1e6 for name in found}
        columns += [f"MB/s, k={k}, w={w}", "ours is faster by"]
        for name, speed in speeds.items():
            rows[name] += [f"{speed:.0f}" if speed >= 10 else f"{speed:.2f}", times(speeds[OURS] / speed)]
    yield Table(
        f"{len(chars) / 1e6:.3g} million characters of English",
        tuple(columns),
        [tuple(row) for row in rows.values()],
        "Aim: 300 × copydetect, 3 × the deque. The peers in C give exactly the same fingerprints, which is checked "
        "before timing starts. simd-minimizers orders k-grams by 16 bits and gives positions only. copydetect is "
        "called as its own detector calls it, on a part of the text. It has a window routine in C that no release "
        f"builds; with it, copydetect would at best be as fast as its hashes alone. {source()}",
        missing,
    )


def candidates(run: Run) -> tuple[dict[str, Winnow], list[str]]:
    """Return the routines that can be measured here, and a line for each peer that cannot."""
    peers, missing = available(
        {
            SIMD: lambda: simd_minimizers(run.offline),
            CIRCULAR: lambda: c_peer("circular_buffer"),
            DEQUE: lambda: c_peer("monotone_deque"),
            COPYDETECT_HASHES: copydetect_hashes,
            COPYDETECT: copydetect,
        }
    )
    return {OURS: fingerprints, f"{OURS}, without vectors": without_vectors, **peers}, missing


def without_vectors(chars: str, k: int, w: int) -> None:
    use_vectors(False)
    fingerprints(chars, k, w)
    use_vectors(True)


def copydetect_hashes() -> Winnow:
    from copydetect.utils import hashed_kgrams  # noqa: PLC0415

    if (version := importlib.metadata.version("copydetect")) not in COPYDETECT:
        raise MissingError(f"{version} is installed")
    return lambda chars, k, w: hashed_kgrams(chars, k)  # noqa: ARG005


def copydetect() -> Winnow:
    hashes = copydetect_hashes()
    from copydetect.utils import winnow  # noqa: PLC0415

    return lambda chars, k, w: winnow(hashes(chars, k, w), w, remove_duplicates=False)


def check_peers(found: dict[str, Winnow], chars: str, k: int, w: int) -> None:
    expected = fingerprints(chars, k, w, robust=False)  # the peers implement Definition 1
    for name in {DEQUE, CIRCULAR} & found.keys():
        if found[name](chars, k, w) != expected:
            raise AssertionError(f"{name} gives other fingerprints at k={k}, w={w}")
