"""Measures candidates in turns, for ratios that hold on a machine that is never quite idle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import quantiles
from typing import TypeVar

WARM_UP = 50  # questions in turns that are not measured

Subject = TypeVar("Subject")
Measured = TypeVar("Measured")


def alternate(candidates: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Return the best CPU seconds of each candidate. They take turns, so that a slow moment affects all."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, candidate in candidates.items():
            start = time.process_time()
            candidate()
            best[name] = min(best[name], time.process_time() - start)
    return best


def in_rounds(kinds: Sequence[str], work: Callable[[str], Measured], rounds: int) -> dict[str, list[Measured]]:
    """Let all kinds of work take turns, every other round backwards. The first round does not count."""
    took: dict[str, list[Measured]] = {kind: [] for kind in kinds}
    for number in range(rounds + 1):
        for kind in kinds if number % 2 else reversed(kinds):
            measured = work(kind)
            if number:
                took[kind].append(measured)
    return took


def clocked(question: Callable[[Subject], object], about: Iterable[Subject]) -> list[float]:
    """Return the seconds of a question about each subject, by the clock."""
    seconds = []
    for each in about:
        start = time.perf_counter()
        question(each)
        seconds.append(time.perf_counter() - start)
    return seconds


def percentiles(seconds: Sequence[float], *percents: int) -> list[float]:
    """Return percentiles of `seconds` in milliseconds: the 50th and the 95th, or those given."""
    cuts = quantiles(seconds, n=100, method="inclusive")
    return [1e3 * cuts[percent - 1] for percent in percents or (50, 95)]


def in_turns(
    kinds: Mapping[str, Callable[[Subject], object]], subjects: Sequence[Subject], *, beside: tuple[str, ...]
) -> list[tuple[str, ...]]:
    """Ask all kinds of questions about one subject, then about the next.

    Return a row for each kind: milliseconds, p50 / p95, and the ratio of p50 to that of each kind in `beside`.
    """
    seconds: dict[str, list[float]] = {name: [] for name in kinds}
    for each in subjects:
        for name, question in kinds.items():
            seconds[name] += clocked(question, [each])
    shown = {name: percentiles(every[WARM_UP:] or every) for name, every in seconds.items()}
    return [
        (name, f"{middle:.1f} / {late:.1f}", *(f"{middle / shown[other][0]:.2f} ×" for other in beside))
        for name, (middle, late) in shown.items()
    ]
