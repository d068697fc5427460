"""The figures of the last `make soak`: long trials under load, with kills, faults and damage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.table import Run, Table
from tests.soak_figures import KEPT


def tables(_run: Run) -> Iterator[Table]:
    if not KEPT.exists():
        raise SystemExit("there are no figures of a soak: run make soak first")
    trials: dict[str, dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8"))
    rows = [
        (
            f"`{test.removeprefix('tests/')}`",
            str(figures.pop("passed")),
            str(figures.pop("failed")),
            f"{figures.pop('seconds') / 60:.0f}",
            "; ".join(f"{name} {number:,}" for name, number in figures.items()),
        )
        for test, figures in trials.items()
    ]
    yield Table("Trials", ("trial", "passed", "failed", "minutes", "figures"), rows)
