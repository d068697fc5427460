"""Shows the phase and progress of a long run, and reports the phase in which it was stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from opensearch_winnow.cli.progress import display
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
        show(f"{phase}: {done:,}" if done else phase, done, total)

    # SIGTERM is as Ctrl-C, so that a stopped run removes its temporary files.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with display(quiet=quiet, color=color) as show:
            yield note_phase
    except KeyboardInterrupt:
        raise Stopped(last) from None
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def all_or_nothing(shown: AbstractContextManager[Progress]) -> Iterator[Progress]:
    """Show the phases of a run whose files appear at its end. If it is stopped, say that nothing was written."""
    try:
        with shown as progress:
            yield progress
    except Stopped:
        say("Stopped: nothing was written.")
        raise
