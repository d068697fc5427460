"""Runs the inputs that fuzzing once found, and those that it begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.target_names import CORE, FILES, GATEWAY
from tests.fuzz.targets import target_and_seeds

FOUND = sorted(Path(__file__).with_name("inputs").glob("*/*"))


@pytest.mark.parametrize("path", FOUND, ids=[f"{path.parent.name}/{path.name}" for path in FOUND])
def test_an_input_that_found_a_bug(path: Path) -> None:
    target_and_seeds(path.parent.name)[0](path.read_bytes(), True)


@pytest.mark.parametrize("name", CORE + GATEWAY)
def test_the_first_inputs(name: str) -> None:
    target, seeds = target_and_seeds(name)
    for data in (b"", *seeds):
        target(data, True)


@pytest.mark.check
@pytest.mark.parametrize("name", FILES)
def test_the_first_inputs_of_files(name: str) -> None:
    target, seeds = target_and_seeds(name)
    for data in (b"", *seeds):
        target(data, True)
