"""Which phase a long run is in, and how far: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from opensearch_winnow.cli.progress import SECONDS_BETWEEN_LINES
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.clusters.asked import Progress


class Stopped(KeyboardInterrupt):
    """Ctrl-C, or a service manager, in the middle of a phase."""

    def __init__(self, phase: str) -> None:
        super().__init__(phase)
        self.phase = phase


@contextmanager
def shown_phases(*, quiet: bool, color: str) -> Iterator[Progress]:
    """What to call with the phase, how much of it is done, and how much there is. Who stops the run raises Stopped."""
    last = ""

    def noted(phase: str, done: int, total: int | None) -> None:
        nonlocal last
        last = phase
        show(phase, done, total)

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # else what a run works with is left behind
    try:
        with _shown(quiet=quiet, color=color) as show:
            yield noted
    except KeyboardInterrupt:
        raise Stopped(last) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _shown(*, quiet: bool, color: str) -> AbstractContextManager[Progress]:
    if quiet:
        return nullcontext(lambda phase, done, total: None)  # noqa: ARG005
    return _bar(plain=color == "never") if sys.stderr.isatty() else nullcontext(_lines())


def _lines() -> Progress:
    shown = time.monotonic()

    def show(phase: str, done: int, total: int | None) -> None:
        nonlocal shown
        if time.monotonic() - shown >= SECONDS_BETWEEN_LINES:
            shown = time.monotonic()
            far = f", {done / total:.0%}".replace("%", " %") if total else ""
            say(f"{phase}: {done:,}{far}" if done else phase)

    return show


@contextmanager
def _bar(*, plain: bool) -> Iterator[Progress]:
    from rich import progress as rich  # noqa: PLC0415 (50 ms, for nothing in a pipe)
    from rich.console import Console  # noqa: PLC0415

    bar = rich.BarColumn(bar_width=24, complete_style="blue", finished_style="blue")
    columns = (bar, rich.TaskProgressColumn(), rich.TimeElapsedColumn(), rich.TextColumn("{task.description}"))
    with rich.Progress(*columns, console=Console(stderr=True, no_color=plain or None), transient=True) as progress:
        progress.add_task("", total=None)
        (task,) = progress.tasks

        def show(phase: str, done: int, total: int | None) -> None:
            # Not by `update`, for which a total of None is no change.
            task.description, task.completed, task.total = f"{phase}: {done:,}" if done else phase, done, total

        yield show
