"""Tables of answers: tab-separated and comma-separated lines, with a row for each answer."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TextIO

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.foundation.answer_keys import Cell, columns_of
from opensearch_winnow.foundation.csv_cells import escape_formula

Delimiter = Literal["\t", ","]


def table_rows(row: type, answers: Iterable[Any]) -> Iterator[Sequence[Cell]]:
    """Yield the names of the columns of a class of rows, and then the cells of each of these `answers`."""
    columns = columns_of(row)
    yield [each.name for each in columns]
    for each in answers:
        yield [_plain(column.cell(each)) for column in columns]


def write_table(file: TextIO, row: type, answers: Iterable[Any], delimiter: Delimiter = "\t") -> None:
    """Write a table for programs, with nothing shortened. Every cell is one line that is safe to print."""
    writer = csv.writer(file, lineterminator="\n") if delimiter == "," else None
    for cells in table_rows(row, answers):
        lines = [one_line(cell).strip() if isinstance(cell, str) else cell for cell in cells]
        if writer:
            writer.writerow(map(escape_formula, lines))
        else:
            file.write("\t".join(map(_written, lines)) + "\n")


def _plain(cell: Cell) -> Cell:
    return {True: "true", False: "false"}[cell] if isinstance(cell, bool) else cell


def _written(cell: Cell) -> str:
    return "" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell)
