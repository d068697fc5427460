"""How the scheme and the script of a text affect speed: winnowing of canonical text in one thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.corpus import chinese, cyrillic, english, gothic, source
from benchmarks.table import Run, Table
from benchmarks.timing import alternate
from opensearch_winnow.cython_core.fingerprints import SELECTIONS, fingerprints

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTINGS = ((50, 100), (20, 21))
CHARACTERS = 6_000_000


def tables(run: Run) -> Iterator[Table]:
    chars = english(run.size(CHARACTERS, least=10_000))
    yield lengths(chars)
    yield selections(chars)
    yield scripts(chars)


def speeds(of: dict[str, tuple[str, int, int, str]]) -> dict[str, float]:
    """Millions of characters a second: MB/s of ASCII."""
    taken = alternate({name: partial(fingerprints, *how) for name, how in of.items()}, rounds=7)
    return {name: len(how[0]) / taken[name] / 1e6 for name, how in of.items()}


def lengths(chars: str, w: int = 100) -> Table:
    measured = speeds({str(k): (chars, k, w, "winnow") for k in (10, 50, 200, 1_000)})
    slowest, fastest = min(measured.values()), max(measured.values())
    return Table(
        f"k-grams of any length, w={w}",
        ("k", "MB/s"),
        [(k, f"{speed:.0f}") for k, speed in measured.items()],
        f"Aim: flat. The fastest is {fastest / slowest:.2f} times as fast as the slowest. {source()}",
    )


def selections(chars: str) -> Table:
    measured = speeds(
        {f"{selection} {k} {w}": (chars, k, w, selection) for selection in SELECTIONS for k, w in SETTINGS}
    )
    rows, columns = [], ["selection"]
    for k, w in SETTINGS:
        columns += [f"MB/s, k={k}, w={w}", "kept, of 1,000 k-grams"]
    for selection in SELECTIONS:
        row = [selection]
        for k, w in SETTINGS:
            kept = len(fingerprints(chars, k, w, selection)[0]) / (len(chars) - k + 1)
            row += [f"{measured[f'{selection} {k} {w}']:.0f}", f"{1000 * kept:.1f}"]
        rows.append(tuple(row))
    return Table("The selections", tuple(columns), rows)


def scripts(chars: str) -> Table:
    texts = {
        "Latin, 1 byte a character": chars,
        "Cyrillic, 2": cyrillic(chars),
        "Chinese, 2": chinese(chars),
        "Gothic, 4": gothic(chars),
    }
    measured = speeds({f"{name} {k} {w}": (text, k, w, "winnow") for name, text in texts.items() for k, w in SETTINGS})
    return Table(
        "Scripts, by how Python keeps them",
        ("script", *(f"million characters/s, k={k}, w={w}" for k, w in SETTINGS)),
        [(name, *(f"{measured[f'{name} {k} {w}']:.0f}" for k, w in SETTINGS)) for name in texts],
        "The English text with its letters replaced; an ideograph stands for two letters.",
    )
