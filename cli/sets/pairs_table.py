"""Prints pairs as a table with bars, or as tab-separated values, and writes them to files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle, width
from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.answers.sets.pairs_document import COLUMNS, pair_rows, pairs_document
from opensearch_winnow.answers.sets.pairs_words import unit
from opensearch_winnow.cli.short_urls import short_urls
from opensearch_winnow.cli.terminal import Terminal, bar
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.queries.sets.pairs import Pair, Pairs
from opensearch_winnow.record_files.answer_table import AnswerTable

GAP = "  "
BAR_COLUMNS = 10
MIN_NAME_COLUMNS = 12
JSON = ".json"


def show_table(screen: Terminal, pairs: Pairs) -> None:
    for line in table(pairs, screen.columns):
        screen.echo(screen.line(line))


def table(pairs: Pairs, columns: int) -> Iterator[list[Span]]:
    """Yield the lines of the table: the measure that ranks the pairs with a bar, the others, and the names."""
    most = max((pair.longest for pair in pairs.pairs), default=1) or 1
    shares = ["similarity" if pairs.measure == "longest" else pairs.measure, "A in B", "B in A"]
    longest = f"longest ({unit(pairs)})"
    numbers = [
        [*map(compact_percent, (_share(pair, shares[0]), pair.containment, pair.contained)), f"{pair.longest:,}"]
        for pair in pairs.pairs
    ]
    heads = [*shares, longest]
    if pairs.measure == "longest":
        heads, numbers = [longest, *shares], [[row[-1], *row[:-1]] for row in numbers]
    measure = heads[0]
    widths = [max(map(width, column)) for column in zip(["", *heads[1:]], *numbers, strict=True)]
    ranked = max(widths[0] + 1 + BAR_COLUMNS, width(measure))
    used = ranked + sum(widths[1:]) + (len(widths) + 1) * len(GAP)
    room = max((columns - used) // 2, MIN_NAME_COLUMNS)
    names = short_urls([name for pair in pairs.pairs for name in (pair.a, pair.b)], room)
    if names.folder:
        yield [(shorten_middle(f"… is {names.folder}", columns), "dim")]
    first = max(map(width, (*names.shown[::2], "A")), default=1)
    head = GAP.join([measure.ljust(ranked), *_right(heads[1:], widths[1:])])
    yield [(f"{head}{GAP}{'A'.ljust(first)}{GAP}B", "bold")]
    for i, (pair, row) in enumerate(zip(pairs.pairs, numbers, strict=True)):
        share = pair.longest / most if pairs.measure == "longest" else _share(pair, pairs.measure)
        a, b = names.shown[2 * i : 2 * i + 2]
        cells = [f"{row[0].rjust(ranked - 1 - BAR_COLUMNS)} {bar(share, BAR_COLUMNS)}", *_right(row[1:], widths[1:])]
        yield [(f"{GAP.join(cells)}{GAP}{a}{' ' * (first - width(a))}{GAP}{b}", "plain")]


def show_rows(pairs: Pairs) -> None:
    """Print tab-separated values for programs, with nothing shortened."""
    sys.stdout.write("\t".join(COLUMNS) + "\n")
    for row in pair_rows(pairs):
        cells = (f"{cell:.6g}" if isinstance(cell, float) else one_line(str(cell)) for cell in row.values())
        sys.stdout.write("\t".join(cells) + "\n")


def write_pairs(target: Path, pairs: Pairs) -> None:
    """Write the pairs to a file that appears when it is complete: one JSON object, or a table."""
    if target.suffix != JSON:
        with AnswerTable(target, COLUMNS, overwrite=True) as answers:
            for row in pair_rows(pairs):
                answers.add(*row.values())
        return
    with open_new(target) as file:
        file.write(json.dumps(pairs_document(pairs)).encode() + b"\n")


def _share(pair: Pair, measure: str) -> float:
    shares = {
        "similarity": pair.similarity,
        "resemblance": pair.resemblance,
        "containment": max(pair.containment, pair.contained),
    }
    return shares[measure]


def _right(cells: list[str], widths: list[int]) -> Iterator[str]:
    return (" " * (columns - width(cell)) + cell for cell, columns in zip(cells, widths, strict=True))
