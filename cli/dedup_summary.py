"""Prints what became of the rows of a deduplication."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from opensearch_winnow.answers.display_text import one_line, shorten_middle
from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.terminal import Terminal, remark, say
from opensearch_winnow.clusters.deduplication.decisions import Deduplication

MAX_REASONS = 5  # of failed rows, listed on a terminal
MIN_COLUMNS = 20
DROPPED = {"exact": "exact copies", "near": "near-duplicates", "contained": "contained in another"}


def show_table(screen: Terminal, result: Deduplication) -> None:
    """Print the counts, and the largest clusters."""
    document = result.as_document()
    digits = len(f"{result.rows:,}")
    notes = {"kept": "", "dropped": _dropped(document), "failed": _failed(result)}
    for name, note in notes.items():
        painted = f"  {screen.paint(note, 'dim')}" if note else ""
        screen.echo(f"{name:<7}  {document[name]:>{digits},}{painted}")
    screen.echo(screen.paint(f"{'rows':<7}  {result.rows:>{digits},}", "bold"))
    if result.largest:
        screen.echo()
        screen.echo(screen.paint("Largest clusters: rows, and the id of the one that stays", "bold"))
        columns = max(len(f"{each.rows:,}") for each in result.largest)
        for each in result.largest:
            room = max(screen.columns - columns - 2, MIN_COLUMNS)
            screen.echo(f"{each.rows:>{columns},}  {shorten_middle(one_line(each.id), room)}")


def _dropped(document: dict[str, int]) -> str:
    parts = [f"{words} {document[name]:,}" for name, words in DROPPED.items() if document[name]]
    if document["against"]:
        parts.append(f"of these {document['against']:,} are in the earlier set")
    return " · ".join(parts)


def _failed(result: Deduplication) -> str:
    return " · ".join(f"{one_line(reason)} {rows:,}" for reason, rows in result.failures.most_common(MAX_REASONS))


def show_rows(result: Deduplication) -> None:
    """Print a line for each outcome and reason, and for each of the largest clusters."""
    sys.stdout.write("part\tname\tvalue\n")
    sys.stdout.writelines(f"{part}\t{one_line(name)}\t{value}\n" for part, name, value in _lines(result))


def _lines(result: Deduplication) -> Iterator[tuple[str, str, int]]:
    document = result.as_document()
    for name in ("rows", "kept", "dropped", "failed"):
        yield "count", name, document[name]
    for name in (*DROPPED, "against"):
        yield "dropped", name, document[name]
    for reason, rows in result.failures.most_common():
        yield "failed", reason, rows
    for each in result.largest:
        yield "largest", each.id, each.rows


def print_end(result: Deduplication, failed: Path | None, to: str | None) -> None:
    """Print where the failed rows are, and how long it took."""
    if result.failed:
        say(f"The failed rows are in {failed}." if failed else f"{count_of(result.failed, 'row')} failed.")
    if result.against_failed:
        say(f"{count_of(result.against_failed, 'row')} of the earlier set could not be read.")
    remark(f"{to or 'Nothing was written'}: {duration(result.seconds)}")
