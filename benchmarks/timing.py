"""Measures candidates in turns, for ratios that hold on a machine that is never quite idle."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def alternate(candidates: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Return the best CPU seconds of each candidate. They take turns, so that a slow moment affects all."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, candidate in candidates.items():
            start = time.process_time()
            candidate()
            best[name] = min(best[name], time.process_time() - start)
    return best
