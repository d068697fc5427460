"""The lines about the evaluation sets, with the rows found most, and the first contaminated rows."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle, width
from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.answers.sets.contamination import found_words, rows_words, set_words
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined, percent_column
from opensearch_winnow.operations.sets.contamination import ContaminatedRow, Contamination

ARROW = " ← "
MAX_ROWS = 20  # contaminated rows on a screen
MAX_MOST = 3  # evaluation rows on a screen, for each set
MIN_COLUMNS = 20
MIN_NAME_COLUMNS = 8


def table(result: Contamination, columns: int) -> Iterator[list[Span]]:
    columns = max(columns, MIN_COLUMNS)
    yield [(found_words(result), "bold")]
    yield from ([(line, "plain")] for line in rows_words(result))
    for each in result.evaluation_sets:
        yield []
        yield [(shorten_middle(one_line(each.name), columns), "bold")]
        yield from ([(line, "plain")] for line in set_words(each))
        most = each.most[:MAX_MOST]
        places = TextColumn("", [f"in {row.training_rows:,}" for row in most])
        _, lines = joined([percent_column("", [row.containment for row in most]), places])
        for row, line in zip(most, lines, strict=True):
            start = f"{GAP}{line}{GAP}"
            yield [(start + shorten_middle(one_line(row.id), columns - width(start)), "plain")]
    rows = result.found[:MAX_ROWS]
    if rows:
        yield []
        yield from _rows(rows, columns)
    if len(result.found) > MAX_ROWS:
        yield [(f"and {len(result.found) - MAX_ROWS:,} more: --to found.csv writes all of them to a file", "plain")]


def _rows(rows: list[ContaminatedRow], columns: int) -> Iterator[list[Span]]:
    """Yield a line for each contaminated row, with the evaluation row that shares the most with it."""
    words = TextColumn("words", [f"{row.words:,}" for row in rows], right=True)
    head, lines = joined([percent_column("of the row", [row.share for row in rows]), words])
    yield [(f"{head}{GAP}of the evaluation row", "dim")]
    _, containments = joined([percent_column("", [row.containment for row in rows])])
    for row, line, containment in zip(rows, lines, containments, strict=True):
        start, end = f"{line}{GAP}{containment}{GAP}", _more(row)
        room = max((columns - width(start) - width(end) - len(ARROW)) // 2, MIN_NAME_COLUMNS)
        names = ARROW.join(shorten_middle(one_line(name), room) for name in (row.id, row.evaluation_id))
        yield [(start + names + end, "plain")]


def _more(row: ContaminatedRow) -> str:
    """Return the containments of several fields, and the number of other evaluation rows."""
    fields, others = row.evaluation_rows[0].fields, len(row.evaluation_rows) - 1
    more = f" and {others:,} more" if others else ""
    if len(fields) == 1:
        return more
    shares = ("not checked" if each.containment is None else compact_percent(each.containment) for each in fields)
    named = (f"{one_line(each.name)} {share}" for each, share in zip(fields, shares, strict=True))
    return f" ({', '.join(named)}){more}"
