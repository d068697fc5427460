"""Prints the log of a server. Untrusted text in it cannot control a terminal, or look like a line of its own."""

from __future__ import annotations

import logging

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.cli.terminal import presentable

MAX_CHARACTERS = 1_000  # of a line: clients choose names as long as a request
MAX_LINES = 200  # of a traceback


class _LogLines(logging.Formatter):
    """Writes a message as one line, and a traceback below it, indented."""

    def format(self, record: logging.LogRecord) -> str:
        lines = [one_line(presentable(record.getMessage()))]
        if record.exc_info:
            below = presentable(self.formatException(record.exc_info)).splitlines()
            lines += [f"  {line}" for line in below[:MAX_LINES]]
            lines += ["  …"] if len(below) > MAX_LINES else []
        return "\n".join(line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}…" for line in lines)


def start_log(*silent: str) -> None:
    """Print warnings and errors of all loggers to stderr, except those named."""
    handler = logging.StreamHandler()
    handler.setFormatter(_LogLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    for name in silent:
        logging.getLogger(name).setLevel(logging.CRITICAL)
