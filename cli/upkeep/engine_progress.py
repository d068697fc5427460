"""Shows the steps of a long operation: a progress bar on a terminal, otherwise one line per step."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from opensearch_winnow.cli.terminal import say
from opensearch_winnow.stores.engine.options import Progress as ShowStep


@contextmanager
def showing_steps() -> Iterator[ShowStep]:
    """Provide a function that shows the current step on standard error."""
    if not sys.stderr.isatty():
        yield _print_steps()
        return
    from rich.console import Console  # noqa: PLC0415 (takes 50 ms, and pipes do not need it)
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    bar = BarColumn(bar_width=24, complete_style="blue", finished_style="blue")
    columns = (bar, TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda step, share: progress.update(
            task, description=step, completed=share or 0, total=None if share is None else 1
        )


def _print_steps() -> ShowStep:
    last_step = ""

    def show(step: str, share: float | None) -> None:  # noqa: ARG001
        nonlocal last_step
        if step != last_step:
            last_step = step
            say(step)

    return show
