"""Winnowing of texts that were made to slow it down, compared with ordinary text of the same character width."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.adversarial_texts import ambush, falling, plateaus, repeated, rising, waves
from benchmarks.corpus import chinese, english
from benchmarks.table import Run, Table, times
from benchmarks.timing import alternate
from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.vectors import use_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

K = 50
WINDOWS = (21, 100, 1_000)
CHARACTERS = 1_000_000
# The ambush has to begin where a block of the routine begins. How long blocks are is the routine's affair: try all.
PERIODS = (512, 1_024, 2_048, 4_096, 8_192)
ORDINARY = {1: "English", 2: "Chinese"}
AMBUSH = "letters, an ambush"


def tables(run: Run) -> Iterator[Table]:
    length = run.size(CHARACTERS, least=2_000)
    texts = {w: texts_for(w, length) for w in WINDOWS}
    yield table("Slower than ordinary text by (ns a character)", texts)
    use_vectors(False)
    try:
        yield table("The same without vectors", texts)
    finally:
        use_vectors(True)


def texts_for(w: int, length: int) -> dict[str, str]:
    """By name; of what comes in many forms, all of them under names that differ after a colon."""
    tooth = [i / w for i in range(w)]
    ambushes = {f"{AMBUSH}:{period}": ambush(K, w, period, length) for period in {*PERIODS, 8 * w} if period < length}
    return {
        ORDINARY[1]: english(length),
        "one letter": "0" * length,
        "two letters in turn": repeated("ab", length),
        "letters, plateaus of zeros": plateaus(w, length),
        **{name: text for name, text in ambushes.items() if text},
        ORDINARY[2]: chinese(english(2 * length)),
        "ideographs, rising hashes": rising(K, length),
        "ideographs, falling hashes": falling(K, length),
        "ideographs, saw-tooth of a window": waves(K, tooth, length),
        "ideographs, up a window and down again": waves(K, tooth + tooth[::-1], length),
        "ideographs, up two windows and down again": waves(
            K, [i / w / 2 for i in (*range(2 * w), *range(2 * w, 0, -1))], length
        ),
    }


def table(title: str, texts: dict[int, dict[str, str]]) -> Table:
    cells: dict[str, dict[int, str]] = {}
    worst = 0.0
    for w in WINDOWS:
        seconds = alternate({name: partial(fingerprints, text, K, w) for name, text in texts[w].items()}, 7)
        taken = {name: seconds[name] / len(text) * 1e9 for name, text in texts[w].items()}
        slowdown = {name: taken[name] / taken[ORDINARY[1 if text.isascii() else 2]] for name, text in texts[w].items()}
        worst = max(worst, *slowdown.values())
        for name in sorted(slowdown, key=slowdown.__getitem__):  # of many forms, the slowest stays
            cells.setdefault(name.split(":")[0], {})[w] = f"{times(slowdown[name])} ({taken[name]:.1f})"
    order = dict.fromkeys(name.split(":")[0] for name in max(texts.values(), key=len))
    return Table(
        title,
        ("text", *(f"k={K}, w={w}" for w in WINDOWS)),
        [(name, *(cells[name].get(w, "") for w in WINDOWS)) for name in order],
        f"Aim: at most 10 ×. The worst found: {times(worst)}.",
    )
