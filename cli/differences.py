"""What only one of two compared texts has, as winnow compare --differences prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from opensearch_winnow.answers.changed_passages import TextRun
from opensearch_winnow.answers.display_text import Span, one_line, shorten
from opensearch_winnow.answers.formatting import count_of

Runs = tuple[list[TextRun], list[TextRun]]  # only in A, and only in B
MARKS = ("−", "A"), ("+", "B")


def differences_table(runs: Runs, columns: int, *, full: bool) -> Iterator[list[Span]]:
    """Yield a line for each run, with its offsets: first those that B lacks, then those that A lacks."""
    offsets = max((len(_offsets(run)) for some in runs for run in some), default=0)
    for (sign, letter), some in zip(MARKS, runs, strict=True):
        yield [(f"Only in {letter}: {count_of(len(some), 'run')}", "bold")]
        for run in some:
            text = one_line(run["text"])
            room = columns - len(f"{sign}  ") - offsets
            yield [(f"{sign} {_offsets(run).rjust(offsets)} ", "dim"), (text if full else shorten(text, room), "plain")]


def show_difference_rows(runs: Runs) -> None:
    """Print tab-separated values for programs, with nothing shortened."""
    sys.stdout.write("only_in\tstart\tend\ttext\n")
    for (_, letter), some in zip(MARKS, runs, strict=True):
        for run in some:
            sys.stdout.write(f"{letter}\t{run['start']}\t{run['end']}\t{one_line(run['text'])}\n")


def _offsets(run: TextRun) -> str:
    return f"{run['start']:,}–{run['end']:,}"
