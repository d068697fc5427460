"""Shows how far a long run is: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from opensearch_winnow.cli.terminal import say
from opensearch_winnow.ingest.runs.report import Report

SECONDS_BETWEEN_LINES = 10.0

Show = Callable[[str, int, int | None], None]  # takes a few words, the amount done, and the total if it is known


@contextmanager
def shown_progress(*, quiet: bool, color: str) -> Iterator[Callable[[Report], None]]:
    """Yield a function that shows how far an indexing run is; it is called with the report so far."""

    def show_report(report: Report) -> None:
        failed = f", {report.failed.total():,} failed" if report.failed else ""
        show(f"{report.pages:,} pages, {pace(report)}{failed}", report.source_bytes, report.total_bytes)

    with display(quiet=quiet, color=color, remaining=True) as show:
        yield show_report


def pace(report: Report) -> str:
    """Return pages and megabytes a second: the size of the pages counts, not that of compressed archives."""
    seconds = max(report.seconds, 0.001)
    return f"{report.pages / seconds:,.0f} pages/s, {report.content_bytes / seconds / 1e6:,.1f} MB/s"


@contextmanager
def display(*, quiet: bool, color: str, remaining: bool = False) -> Iterator[Show]:
    """Yield a function that shows how far a run is: with the remaining time, or else the elapsed time."""
    if quiet:
        yield lambda words, done, total: None  # noqa: ARG005
    elif sys.stderr.isatty():
        with ExitStack() as opened:
            yield _bar(opened, plain=color == "never", remaining=remaining)
    else:
        yield _lines()


def _lines() -> Show:
    shown = time.monotonic()

    def show(words: str, done: int, total: int | None) -> None:
        nonlocal shown
        if time.monotonic() - shown >= SECONDS_BETWEEN_LINES:
            shown = time.monotonic()
            say(words + (f", {done / total:.0%}".replace("%", " %") if total and done else ""))

    return show


def _bar(opened: ExitStack, *, plain: bool, remaining: bool) -> Show:
    from rich import progress as rich  # noqa: PLC0415 (takes 50 ms, and a pipe does not need it)
    from rich.console import Console  # noqa: PLC0415

    bar = rich.BarColumn(bar_width=24, complete_style="blue", finished_style="blue")
    clock = rich.TimeRemainingColumn(compact=True) if remaining else rich.TimeElapsedColumn()
    columns = (bar, rich.TaskProgressColumn(), clock, rich.TextColumn("{task.description}"))
    console = Console(stderr=True, no_color=plain or None)
    progress = opened.enter_context(rich.Progress(*columns, console=console, transient=True))
    progress.add_task("", total=None)
    (task,) = progress.tasks

    def show(words: str, done: int, total: int | None) -> None:
        # Set directly, because `update` ignores a total of None.
        task.description, task.completed, task.total = words, done, total

    return show
