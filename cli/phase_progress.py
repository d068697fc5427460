"""Shows the phase and progress of a long run: a bar on a terminal, otherwise a line from time to time."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from opensearch_winnow.cli.progress import SECONDS_BETWEEN_LINES
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.foundation.progress import Progress


class Stopped(KeyboardInterrupt):
    """Raised when Ctrl-C or SIGTERM stops a run in the middle of a phase."""

    def __init__(self, phase: str) -> None:
        super().__init__(phase)
        self.phase = phase


@contextmanager
def show_phases(*, quiet: bool, color: str) -> Iterator[Progress]:
    """Yield a function that shows the phase, the amount done and the total. Raise Stopped if the run is stopped."""
    last = ""

    def note_phase(phase: str, done: int, total: int | None) -> None:
        nonlocal last
        last = phase
        show(phase, done, total)

    # SIGTERM is as Ctrl-C, so that a stopped run removes its temporary files.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _display(quiet=quiet, color=color) as show:
            yield note_phase
    except KeyboardInterrupt:
        raise Stopped(last) from None
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def all_or_nothing(*, quiet: bool, color: str) -> Iterator[Progress]:
    """Show the phases of a run whose files appear when all is done. If it is stopped, say that there are none."""
    try:
        with show_phases(quiet=quiet, color=color) as progress:
            yield progress
    except Stopped:
        say("Stopped: nothing was written.")
        raise


def _display(*, quiet: bool, color: str) -> AbstractContextManager[Progress]:
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
    from rich import progress as rich  # noqa: PLC0415 (takes 50 ms, and a pipe does not need it)
    from rich.console import Console  # noqa: PLC0415

    bar = rich.BarColumn(bar_width=24, complete_style="blue", finished_style="blue")
    columns = (bar, rich.TaskProgressColumn(), rich.TimeElapsedColumn(), rich.TextColumn("{task.description}"))
    with rich.Progress(*columns, console=Console(stderr=True, no_color=plain or None), transient=True) as progress:
        progress.add_task("", total=None)
        (task,) = progress.tasks

        def show(phase: str, done: int, total: int | None) -> None:
            # Set directly, because `update` ignores a total of None.
            task.description, task.completed, task.total = f"{phase}: {done:,}" if done else phase, done, total

        yield show
