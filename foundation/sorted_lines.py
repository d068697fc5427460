"""Sorts more lines than fit into memory."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice

LINES_IN_MEMORY = 500_000  # about 200 MB


def sorted_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, each with its end, in order. Those that do not fit into memory go through temporary files."""
    rest = iter(lines)
    first = sorted(islice(rest, LINES_IN_MEMORY))
    with ExitStack() as stack:
        runs: list[Iterable[str]] = [first]
        while some := sorted(islice(rest, LINES_IN_MEMORY)):
            run = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n"))
            run.writelines(some)
            run.seek(0)
            runs.append(run)
        yield from heapq.merge(*runs)
