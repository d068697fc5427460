"""The locked requirements: complete, with hashes, and in agreement with pyproject.toml."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lock import ENTRY, LAYERS


@pytest.fixture(scope="module")
def locked(root: Path) -> dict[str, Requirement]:
    """All entries of all files, by the names of the packages."""
    texts = [(root / f"requirements/{layer}.txt").read_text() for layer in LAYERS]
    found = [entry[0] for text in texts for entry in ENTRY.finditer(text)]
    entries = [Requirement(entry.partition("\\")[0].strip()) for entry in found]
    assert len({entry.name for entry in entries}) == len(entries), "a package is locked twice"
    assert all("--hash=sha256:" in entry for entry in found)
    return {canonicalize_name(entry.name): entry for entry in entries}


def wanted(pyproject: dict[str, Any]) -> list[Requirement]:
    """Return what pyproject.toml asks for in the locked extras, and in the extras that these consist of."""
    extras = pyproject["project"]["optional-dependencies"]
    lines = [*pyproject["build-system"]["requires"], *pyproject["project"]["dependencies"]]
    left, seen = [extra for layer in LAYERS.values() for extra in layer], set[str]()
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            for requirement in map(Requirement, extras[name]):
                is_own = requirement.name == "opensearch-winnow"
                left += requirement.extras if is_own else ()
                lines += [] if is_own else [str(requirement)]
    return list(map(Requirement, lines))


def test_they_are_what_pyproject_asks_for(locked: dict[str, Requirement], pyproject: dict[str, Any]) -> None:
    """After a change in pyproject.toml: make lock."""
    for requirement in wanted(pyproject):
        found = locked.get(canonicalize_name(requirement.name))
        assert found, f"{requirement} is not locked: run make lock"
        (version,) = (each.version for each in found.specifier)
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement}: run make lock"


def test_no_package_is_left_out_on_a_python_of_ours(locked: dict[str, Requirement], pyproject: dict[str, Any]) -> None:
    minors = re.findall(r"Python :: 3\.(\d+)", " ".join(pyproject["project"]["classifiers"]))
    for minor in minors:
        environment = {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9"}
        for requirement in wanted(pyproject):
            marker = locked[canonicalize_name(requirement.name)].marker
            assert marker is None or marker.evaluate(environment), requirement


def test_everything_is_installed_from_them(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    for layer in LAYERS:
        assert f"$(LOCKED) --requirement requirements/{layer}.txt" in makefile
    assert "LOCKED := $(RUN)/python -m pip install --quiet --require-hashes --no-deps" in makefile
    workflow = (root / ".github/workflows/release.yml").read_text()
    for command in re.findall(r"pip install .+", workflow):
        assert "--require-hashes" in command
