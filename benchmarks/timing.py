"""How long things take beside each other on a machine that is never quite idle."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def alternate(candidates: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """The best CPU seconds of each candidate; they take turns, so that what slows the machine down slows them all."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, candidate in candidates.items():
            start = time.process_time()
            candidate()
            best[name] = min(best[name], time.process_time() - start)
    return best
