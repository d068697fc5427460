"""The steps of a start: a bar on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opensearch_winnow.cli.terminal import say

Show = Callable[[str, float | None], None]  # what is being done, and how much of it is


@contextmanager
def shown_steps() -> Iterator[Show]:
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console  # noqa: PLC0415 (50 ms, for nothing in a pipe)
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    bar = BarColumn(bar_width=24, complete_style="blue", finished_style="blue")
    columns = (bar, TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda step, share: progress.update(
            task, description=step, completed=share or 0, total=None if share is None else 1
        )


def _lines() -> Show:
    shown = ""

    def show(step: str, share: float | None) -> None:  # noqa: ARG001
        nonlocal shown
        if step != shown:
            shown = step
            say(step)

    return show
