"""Shows the steps of a long operation: a progress bar on a terminal, otherwise one line per step."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from opensearch_winnow.cli.progress import display
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.stores.engine.options import Progress as ShowStep

PARTS = 1000  # of a step, as the bar counts them


@contextmanager
def showing_steps() -> Iterator[ShowStep]:
    """Provide a function that shows the current step on standard error."""
    if not sys.stderr.isatty():
        yield _print_steps()
        return
    with display(quiet=False, color="auto") as show:
        yield lambda step, share: show(step, round(PARTS * (share or 0)), None if share is None else PARTS)


def _print_steps() -> ShowStep:
    last_step = ""

    def show(step: str, share: float | None) -> None:  # noqa: ARG001
        nonlocal last_step
        if step != last_step:
            last_step = step
            say(step)

    return show
