"""Runs the inputs that fuzzing once found, and those that it begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import ALL, FILES, target_and_seeds

FOUND = sorted(Path(__file__).with_name("inputs").glob("*/*"))


@pytest.mark.parametrize("path", FOUND, ids=[f"{path.parent.name}/{path.name}" for path in FOUND])
def test_an_input_that_found_a_bug(path: Path) -> None:
    target_and_seeds(path.parent.name)[0](path.read_bytes(), True)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.check] * (name in FILES)) for name in ALL])
def test_the_first_inputs(name: str) -> None:
    target, seeds = target_and_seeds(name)
    for data in (b"", *seeds):
        target(data, True)
