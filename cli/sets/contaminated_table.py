"""Prints what training sets have of evaluation sets: as tables, tab-separated values, or one object."""

from __future__ import annotations

import json
import sys

from opensearch_winnow.answers.display_text import one_line, shorten_middle
from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.cli.sets.dedup_summary import say_other_texts
from opensearch_winnow.cli.terminal import Terminal, say
from opensearch_winnow.operations.sets.contamination import ContaminatedRow, Contamination

GAP = "  "
MAX_ROWS = 20  # contaminated rows on a screen
MAX_MOST = 3  # evaluation rows on a screen, for each set
MIN_COLUMNS = 20
HEADS = (
    *("id", "row", "passages", "words", "share"),
    *("evaluation_share", "set", "evaluation_id", "evaluation_rows", "evaluation_fields"),
)


def as_object(result: Contamination, *, listed: bool) -> dict[str, object]:
    """Return the one object of --json: the summary, and the rows unless they are in a file."""
    return result.as_document() | ({"found": [row.as_document() for row in result.found]} if listed else {})


def headline(result: Contamination) -> str:
    """Return how many training rows are contaminated, and what was not checked: nobody should take that for clean."""
    sets, failed = result.evaluation_sets, sum(result.failed.values())
    unchecked, partly = (sum(each.unchecked for each in sets), sum(each.partly_checked for each in sets))
    evaluated = sum(each.rows for each in sets)
    share = f"a share of {result.min_share:g} or more of an evaluation text"
    if result.contaminated:
        rows = f"{result.contaminated:,} of {count_of(result.rows, 'training row')}"
        said = f"{rows} {_hold(result.contaminated)} {share if result.min_share else 'passages of evaluation sets'}"
    elif result.below_share:
        rows = f"{result.below_share:,} of {result.rows:,} {_hold(result.below_share)}"
        said = f"No training row holds {share}, but {rows} smaller passages"
    elif failed == result.rows:
        return "Nothing was checked: no training row could be read"
    elif unchecked == evaluated:
        return "Nothing was checked: no evaluation row has a text that is long enough"
    else:
        words = count_of(result.words, "word")
        said = f"No passage of {words} of the evaluation sets in {count_of(result.rows - failed, 'training row')}"
    return said + _not_checked(
        count_of(failed, "training row") if failed else "",
        f"{unchecked:,} of {count_of(evaluated, 'evaluation row')}" if unchecked else "",
        f"parts of {count_of(partly, 'evaluation row')}" if partly else "",
    )


def show_rows(result: Contamination) -> None:
    """Print the contaminated rows, each with the evaluation row of which it has the most."""
    sys.stdout.write("\t".join(HEADS) + "\n")
    for row in result.found:
        most = row.evaluation_rows[0]
        numbers = f"{row.row}\t{row.passages}\t{row.words}\t{row.share:.4f}\t{most.share:.4f}"
        names = f"{one_line(most.set)}\t{one_line(most.id)}\t{len(row.evaluation_rows)}"
        fields = json.dumps(most.as_document()["fields"], ensure_ascii=False)
        sys.stdout.write(f"{one_line(row.id)}\t{numbers}\t{names}\t{one_line(fields)}\n")


def show_table(screen: Terminal, result: Contamination) -> None:
    """Print the evaluation sets, with the rows found most, and the first contaminated rows."""
    screen.echo(screen.paint(headline(result), "bold"))
    if result.contaminated and result.below_share:
        screen.echo(f"{result.below_share:,} more {_hold(result.below_share)} smaller passages")
    if result.kept is not None:
        cut = f"; passages were cut out of {result.cut:,}" if result.cut else ""
        screen.echo(f"{count_of(result.kept, 'row')} written{cut}")
    columns = max(screen.columns, MIN_COLUMNS)
    for each in result.evaluation_sets:
        screen.echo()
        screen.echo(screen.paint(shorten_middle(one_line(each.name), columns), "bold"))
        share = compact_percent(each.found / each.rows) if each.rows else "0 %"
        found = f"{each.found:,} of {count_of(each.rows, 'row')} ({share})"
        unchecked = _not_checked(
            count_of(each.unchecked, "row") if each.unchecked else "",
            f"parts of {count_of(each.partly_checked, 'row')}" if each.partly_checked else "",
        )
        screen.echo(f"{found} found, in {count_of(each.training_rows, 'training row')}{unchecked}")
        if len(each.fields) > 1 and each.found:
            fields = ", ".join(f"{one_line(field.name)} {field.found:,}" for field in each.fields)
            screen.echo(f"rows found by field: {fields}")
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
    fewer = f"with fewer than {count_of(result.shortest, 'word')}"
    for each in result.evaluation_sets:
        for field in each.fields:
            where = f" in {one_line(field.name)}" if field.name else ""
            if field.too_short:
                say(f"{each.name}: {count_of(field.too_short, 'row')} with a text{where} too short to check, {fewer}")
            if field.lacking:
                say(f"{each.name}: {count_of(field.lacking, 'row')} without a text{where}")
        if each.failed:
            say(f"{each.name}: {count_of(each.failed, 'row')} could not be read")
        for failed in each.failures:
            say(f"  {one_line(failed.where)}: {failed.reason}")
        if each.failed > len(each.failures):
            say(f"  and {each.failed - len(each.failures):,} more")


def _hold(rows: int) -> str:
    return "holds" if rows == 1 else "hold"


def _not_checked(*parts: str) -> str:
    """Return which parts were not checked, to be added to a sentence; those that are empty were."""
    named = ", ".join(filter(None, parts))
    return f"; not checked: {named}" if named else ""


def _line(row: ContaminatedRow, columns: int) -> str:
    most = row.evaluation_rows[0]
    more = f" and {len(row.evaluation_rows) - 1:,} more" if len(row.evaluation_rows) > 1 else ""
    if len(most.fields) > 1:
        shares = [(one_line(name), share) for name, share in most.fields.items()]
        fields = [f"{name} {'not checked' if share is None else compact_percent(share)}" for name, share in shares]
        more = f" ({', '.join(fields)}){more}"
    numbers = f"{compact_percent(row.share):>10}{GAP}{row.words:>5,}{GAP}{compact_percent(most.share):>5}"
    room = max((columns - len(numbers) - len(more) - 2 * len(GAP) - 3) // 2, 8)
    names = [shorten_middle(one_line(name), room) for name in (row.id, most.id)]
    return f"{numbers}{GAP}{names[0]} ← {names[1]}{more}"
