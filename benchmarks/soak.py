"""The figures of the last `make soak`: long trials under load, with kills, faults and damage."""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchmarks.table import Run, Table
from tests.soak_figures import FOLDER


def tables(_run: Run) -> Iterator[Table]:
    trials = sorted(FOLDER.glob("*.json"))
    if not trials:
        raise SystemExit("there are no figures of a soak: run make soak first")
    rows = [(trial.stem.replace("_", " "), _figures(json.loads(trial.read_text(encoding="utf-8")))) for trial in trials]
    yield Table("Trials", ("trial", "figures"), rows)


def _figures(figures: dict[str, object]) -> str:
    return "; ".join(f"{name.replace('_', ' ')}: {_written(value)}" for name, value in figures.items())


def _written(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} × {each:,}" for name, each in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)
