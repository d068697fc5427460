"""Shows the progress of an indexing run: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from opensearch_winnow.cli.terminal import say
from opensearch_winnow.ingest.runs.report import Report

SECONDS_BETWEEN_LINES = 10.0

Show = Callable[[Report], None]


@contextmanager
def shown_progress(*, quiet: bool, color: str) -> Iterator[Show]:
    """Yield a function that shows how far a run is; it is called with the report so far."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with ExitStack() as opened:
            yield _bar(opened, plain=color == "never")
    else:
        yield _lines()


def pace(report: Report) -> str:
    """Return pages and megabytes a second: MB of pages, which take the time, not of compressed archives."""
    seconds = max(report.seconds, 0.001)
    return f"{report.pages / seconds:,.0f} pages/s, {report.content_bytes / seconds / 1e6:,.1f} MB/s"


def _lines() -> Show:
    last = time.monotonic()

    def show(report: Report) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            total = report.total_bytes
            percent = f", {report.source_bytes / total:.0%}".replace("%", " %") if total else ""
            say(f"{report.pages:,} pages{percent}, {pace(report)}{_failed(report)}")

    return show


def _bar(opened: ExitStack, *, plain: bool) -> Show:
    from rich.console import Console  # noqa: PLC0415 (50 ms, for nothing in a pipe)
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    progress: Progress | None = None

    def start(total: int | None) -> Progress:
        bar = BarColumn(bar_width=24, complete_style="blue", finished_style="blue")
        columns = (bar, TaskProgressColumn(), TimeRemainingColumn(compact=True)) if total else ()
        console = Console(stderr=True, no_color=plain or None)
        started = Progress(*columns, TextColumn("{task.description}"), console=console, transient=True)
        started.add_task("", total=total)
        return opened.enter_context(started)

    def show(report: Report) -> None:
        nonlocal progress
        progress = progress or start(report.total_bytes)
        words = f"{report.pages:,} pages, {pace(report)}{_failed(report)}"
        progress.update(progress.task_ids[0], completed=report.source_bytes, description=words)

    return show


def _failed(report: Report) -> str:
    return f", {report.failed.total():,} failed" if report.failed else ""
