"""Prints what became of the rows of winnow dedup."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from opensearch_winnow.answers.display_text import one_line, shorten_middle
from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.terminal import Terminal, remark, say
from opensearch_winnow.clusters.deduplication.decisions import Deduplication
from opensearch_winnow.foundation.path_names import PathName

MAX_REASONS = 5  # of failed rows, listed on a terminal
MAX_NAMES = 5  # of files that were not read
MIN_COLUMNS = 20
TOO_LARGE = "larger than"  # how the reason of such a row begins
DROPPED = {
    "identical": "same text",
    "exact": "same words",
    "near": "near-duplicates",
    "contained": "contained in another",
}
WARNINGS = ("other_symbols", "not_compared", "wrong_dates")

Line = tuple[str, str, int]  # a part of the result, a name in it, and its value


def failed_file(failed: PathName | None, to: PathName | None) -> PathName | None:
    """Return the file for rows that cannot be read: by default beside the output, if there is one."""
    return f"{os.fspath(to).rstrip('/')}.failed.jsonl" if to and failed is None else failed


def show_table(screen: Terminal, result: Deduplication) -> None:
    """Print the counts, and the largest clusters."""
    document = result.as_document()
    show_outcomes(screen, document, {"dropped": _dropped(document)}, result.failures)
    if result.largest:
        screen.echo()
        screen.echo(screen.paint("Largest clusters: rows, and the id of the one that stays", "bold"))
        columns = max(len(f"{each.rows:,}") for each in result.largest)
        for each in result.largest:
            room = max(screen.columns - columns - 2, MIN_COLUMNS)
            screen.echo(f"{each.rows:>{columns},}  {shorten_middle(one_line(each.id), room)}")


def show_outcomes(
    screen: Terminal, document: Mapping[str, Any], notes: Mapping[str, str], failures: Counter[str]
) -> None:
    """Print how many rows were kept, dropped and failed, with notes and the most frequent reasons."""
    digits = len(f"{document['rows']:,}")
    reasons = " · ".join(f"{one_line(reason)} {rows:,}" for reason, rows in failures.most_common(MAX_REASONS))
    for name in ("kept", "dropped", "failed"):
        note = reasons if name == "failed" else notes.get(name, "")
        painted = f"  {screen.paint(note, 'dim')}" if note else ""
        screen.echo(f"{name:<7}  {document[name]:>{digits},}{painted}")
    screen.echo(screen.paint(f"{'rows':<7}  {document['rows']:>{digits},}", "bold"))


def _dropped(document: dict[str, int]) -> str:
    parts = [f"{words} {document[name]:,}" for name, words in DROPPED.items() if document[name]]
    if document["against"]:
        parts.append(f"of these {document['against']:,} are in the earlier set")
    return " · ".join(parts)


def show_rows(lines: Iterable[Line]) -> None:
    """Print tab-separated values for programs."""
    sys.stdout.write("part\tname\tvalue\n")
    sys.stdout.writelines(f"{part}\t{one_line(name)}\t{value}\n" for part, name, value in lines)


def result_lines(result: Deduplication) -> Iterator[Line]:
    """Yield a line for each outcome and reason, and for each of the largest clusters."""
    document = result.as_document()
    for name in ("rows", "kept", "dropped", "failed"):
        yield "count", name, document[name]
    for name in DROPPED:
        yield "dropped", name, document[name]
    if result.against_rows:
        yield "against", "rows", result.against_rows
        yield "against", "failed", result.against_failed
        yield "against", "dropped for them", document["against"]
    for name in WARNINGS:
        if document[name]:
            yield "warning", name, document[name]
    for reason, rows in result.failures.most_common():
        yield "failed", reason, rows
    for each in result.largest:
        yield "largest", each.id, each.rows


def _warnings(result: Deduplication) -> Iterator[str]:
    if (example := result.other_symbols_example) is not None:
        one = "row was dropped for its words though its operators or signs differ"
        many = "rows were dropped for their words though their operators or signs differ"
        shown = f"“{one_line(example.text)}” for “{one_line(example.representative_text)}”"
        yield (
            f"{count_of(result.other_symbols, one, many)}, such as {shown}."
            " If they matter, as in mathematics and code, use --match identical."
        )
    if result.not_compared:
        yield (
            f"{count_of(result.not_compared, 'row that is', 'rows that are')} kept may be in another: too many rows"
            " share passages with them to compare all."
        )
    if result.wrong_dates:
        rows = count_of(result.wrong_dates, "row has", "rows have")
        yield f"{rows} a date that cannot be read, or cannot be right. It counts as unknown."


def say_other_texts(names: Sequence[str]) -> None:
    """Say which files of folders were not read."""
    if names:
        more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
        listed = ", ".join(map(one_line, names[:MAX_NAMES]))
        say(f"Not read, because the folder has files of rows: {listed}{more}")


def say_failed(reasons: Counter[str], failed: PathName | None) -> None:
    """Say where the rows are that could not be read, and how to read those that are too large."""
    if reasons:
        rows = count_of(reasons.total(), "row")
        say(f"The failed rows are in {failed}." if failed else f"{rows} could not be read.")
    say_too_large(reasons)


def say_too_large(reasons: Counter[str]) -> None:
    """Say how to read rows that are too large, if there are any."""
    if any(reason.startswith(TOO_LARGE) for reason in reasons):
        say("--max-row-size reads larger rows.")


def print_end(result: Deduplication, failed: PathName | None, to: PathName | None) -> None:
    """Print what needs attention, where the failed rows are, and how long it took."""
    for warning in _warnings(result):
        say(f"Warning: {warning}")
    say_other_texts(result.other_texts)
    say_failed(result.failures, failed)
    if result.against_failed:
        say(f"{count_of(result.against_failed, 'row')} of the earlier set could not be read.")
    remark(f"{to or 'Nothing was written'}: {duration(result.seconds)}")
