"""Prints what training sets have of evaluation sets: as tables, tab-separated values, or one object."""

from __future__ import annotations

import sys

from opensearch_winnow.answers.display_text import one_line, shorten_middle
from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.cli.dedup_summary import say_other_texts
from opensearch_winnow.cli.terminal import Terminal, say
from opensearch_winnow.operations.contamination import ContaminatedRow, Contamination

GAP = "  "
MAX_ROWS = 20  # contaminated rows on a screen
MAX_MOST = 3  # evaluation rows on a screen, for each set
MIN_COLUMNS = 20
HEADS = ("id", "row", "passages", "words", "share", "evaluation_share", "set", "evaluation_id", "evaluation_rows")


def as_object(result: Contamination, *, listed: bool) -> dict[str, object]:
    """Return the one object of --json: the summary, and the rows unless they are in a file."""
    return result.as_document() | ({"found": [_row_object(row) for row in result.found]} if listed else {})


def show_rows(result: Contamination) -> None:
    """Print the contaminated rows, each with the evaluation row of which it has the most."""
    sys.stdout.write("\t".join(HEADS) + "\n")
    for row in result.found:
        most = row.evaluation_rows[0]
        numbers = f"{row.row}\t{row.passages}\t{row.words}\t{row.share:.4f}\t{most.share:.4f}"
        names = f"{one_line(most.set)}\t{one_line(most.id)}\t{len(row.evaluation_rows)}"
        sys.stdout.write(f"{one_line(row.id)}\t{numbers}\t{names}\n")


def show_table(screen: Terminal, result: Contamination) -> None:
    """Print the evaluation sets, with the rows found most, and the first contaminated rows."""
    rows = f"{result.contaminated:,} of {count_of(result.rows, 'training row')}"
    hold = "holds" if result.contaminated == 1 else "hold"
    screen.echo(screen.paint(f"{rows} {hold} passages of evaluation sets", "bold"))
    if result.kept is not None:
        cut = f"; passages were cut out of {result.cut:,}" if result.cut else ""
        screen.echo(f"{count_of(result.kept, 'row')} written{cut}")
    columns = max(screen.columns, MIN_COLUMNS)
    for each in result.evaluation_sets:
        screen.echo()
        screen.echo(screen.paint(shorten_middle(one_line(each.name), columns), "bold"))
        share = compact_percent(each.found / each.rows) if each.rows else "0 %"
        found = f"{each.found:,} of {count_of(each.rows, 'row')} ({share})"
        screen.echo(f"{found} found, in {count_of(each.training_rows, 'training row')}")
        for row in each.most[:MAX_MOST]:
            numbers = f"{compact_percent(row.share):>5}{GAP}in {row.training_rows:,}{GAP}"
            screen.echo(f"{GAP}{numbers}{shorten_middle(one_line(row.id), columns - len(numbers) - len(GAP))}")
    if result.found:
        screen.echo()
        screen.echo(screen.paint("of the row" + GAP + "words" + GAP + "of the evaluation row", "dim"))
    for found_row in result.found[:MAX_ROWS]:
        screen.echo(_line(found_row, columns))
    if len(result.found) > MAX_ROWS:
        screen.echo(f"and {len(result.found) - MAX_ROWS:,} more: --to found.csv writes all of them to a file")


def say_left_out(result: Contamination) -> None:
    """Say which rows were not checked: nobody should take them for clean."""
    say_other_texts(result.other_texts)
    for reason, count in sorted(result.failed.items()):
        say(f"{count_of(count, 'training row')} could not be checked: {reason}")
    for each in result.evaluation_sets:
        if each.too_short:
            rows = count_of(each.too_short, "row")
            say(f"{each.name}: {rows} too short to check, with fewer than {count_of(result.shortest, 'word')}")
        if each.failed:
            say(f"{each.name}: {count_of(each.failed, 'row')} could not be read")
        for failed in each.failures:
            say(f"  {one_line(failed.where)}: {failed.reason}")
        if each.failed > len(each.failures):
            say(f"  and {each.failed - len(each.failures):,} more")
        for name, count in each.lacking.items():
            say(f"{each.name}: {count_of(count, 'row')} without the field {name}")


def _line(row: ContaminatedRow, columns: int) -> str:
    most = row.evaluation_rows[0]
    more = f" and {len(row.evaluation_rows) - 1:,} more" if len(row.evaluation_rows) > 1 else ""
    numbers = f"{compact_percent(row.share):>10}{GAP}{row.words:>5,}{GAP}{compact_percent(most.share):>5}"
    room = max((columns - len(numbers) - len(more) - 2 * len(GAP) - 3) // 2, 8)
    names = [shorten_middle(one_line(name), room) for name in (row.id, most.id)]
    return f"{numbers}{GAP}{names[0]} ← {names[1]}{more}"


def _row_object(row: ContaminatedRow) -> dict[str, object]:
    evaluations = [{"set": e.set, "id": e.id, "share": round(e.share, 4)} for e in row.evaluation_rows]
    return {
        "id": row.id,
        "row": row.row,
        "passages": row.passages,
        "words": row.words,
        "share": round(row.share, 4),
        "evaluation_share": evaluations[0]["share"],
        "evaluation_rows": evaluations,
    }
