"""Keeps what the long trials of `make soak` have found in build/soak.json, for docs/promises.md.

A trial adds figures by pytest's `record_property`. Those of a trial with several cases are added up.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

KEPT = Path(__file__).resolve().parent.parent / "build" / "soak.json"


class SoakFigures:
    """Counts the cases of each trial, and adds up their figures."""

    def __init__(self) -> None:
        self._trials: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "soak" not in report.keywords or (report.when != "call" and report.passed):
            return
        trial = self._trials.setdefault(re.split(r"[\[@]", report.nodeid)[0], {"passed": 0, "failed": 0, "seconds": 0})
        trial["passed" if report.passed else "failed"] += 1
        trial["seconds"] += report.duration
        for name, figure in report.user_properties:
            trial[name] = trial.get(name, 0) + figure

    def pytest_sessionfinish(self) -> None:
        if self._trials:
            kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps(kept | self._trials, indent=1) + "\n", encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the reports of all workers come to the process that started them
        config.pluginmanager.register(SoakFigures())
