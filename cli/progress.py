"""How far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opensearch_winnow.cli.terminal import say
from opensearch_winnow.ingest.report import Report

EVERY = 10.0  # seconds between two lines


@contextmanager
def shown_progress(total: int | None, *, quiet: bool, color: str) -> Iterator[Callable[[Report], None]]:
    """What to call with the report so far. `total` is the bytes of the sources, if they are known."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bar(total, plain=color == "never") as show:
            yield show
    else:
        yield _lines(total)


def pace(report: Report) -> str:
    """Pages and megabytes a second. MB of pages, which is what takes the time, not of compressed archives."""
    seconds = max(report.seconds, 0.001)
    return f"{report.pages / seconds:,.0f} pages/s, {report.content_bytes / seconds / 1e6:,.1f} MB/s"


def _lines(total: int | None) -> Callable[[Report], None]:
    shown = time.monotonic()

    def show(report: Report) -> None:
        nonlocal shown
        if time.monotonic() - shown >= EVERY:
            shown = time.monotonic()
            far = f", {report.source_bytes / total:.0%}".replace("%", " %") if total else ""
            failed = f", {report.failed.total():,} failed" if report.failed else ""
            say(f"{report.pages:,} pages{far}, {pace(report)}{failed}")

    return show


@contextmanager
def _bar(total: int | None, *, plain: bool) -> Iterator[Callable[[Report], None]]:
    from rich.console import Console  # noqa: PLC0415 (50 ms, for nothing in a pipe)
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    bar = BarColumn(bar_width=24, complete_style="blue", finished_style="blue")
    known = (bar, TaskProgressColumn(), TimeRemainingColumn(compact=True)) if total else ()
    console = Console(stderr=True, no_color=plain or None)
    with Progress(*known, TextColumn("{task.description}"), console=console, transient=True) as progress:
        task = progress.add_task("", total=total)

        def show(report: Report) -> None:
            failed = f", {report.failed.total():,} failed" if report.failed else ""
            words = f"{report.pages:,} pages, {pace(report)}{failed}"
            progress.update(task, completed=report.source_bytes, description=words)

        yield show
