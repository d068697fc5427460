"""The Dockerfile uses one Python version, and its image has neither a compiler nor a root user."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from opensearch_winnow.cli.serve import PORT

Instruction = tuple[str, str]


@pytest.fixture(scope="module")
def stages(root: Path) -> list[list[Instruction]]:
    """The instructions of each stage: name, and arguments joined into one line."""
    text = (root / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    instructions: list[Instruction] = [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]
    starts = [i for i, (name, _) in enumerate(instructions) if name == "FROM"]
    assert starts[0] == 0
    return [instructions[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def lint(file: Path) -> str:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, "--no-color", file], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.check
def test_the_linter_has_nothing_to_say(root: Path) -> None:
    assert lint(root / "Dockerfile") == ""


@pytest.mark.check
def test_the_linter_finds_faults(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "Dockerfile"
    broken.write_text((root / "Dockerfile").read_text().replace(":3.13-slim-bookworm", "", 1))
    assert "DL3006" in lint(broken)


def test_wheels_are_built_with_a_compiler_and_installed_on_the_same_system_without_one(
    root: Path, stages: list[list[Instruction]]
) -> None:
    (_, building), (_, running) = (stage[0] for stage in stages)
    version = re.fullmatch(r"python:(3\.\d+)-bookworm AS build", building)
    assert version
    assert running == f"python:{version[1]}-slim-bookworm"
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"Programming Language :: Python :: {version[1]}" in project["classifiers"]
    assert not [arguments for name, arguments in stages[1] if name == "COPY" or "apt" in arguments]


def test_the_build_copies_everything_that_a_wheel_needs(root: Path, stages: list[list[Instruction]]) -> None:
    assert [arguments for stage in stages for name, arguments in stage if name in ("ADD", "COPY")] == [". ."]
    ignored = (root / ".dockerignore").read_text(encoding="utf-8").split("\n")
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    rooms = {folder.partition("/")[0] for folder in settings["tool"]["setuptools"]["package-dir"].values()}
    needed = {*rooms, "opensearch_winnow", "setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "README.md"}
    assert [name for name in needed if not (root / name).exists() or name in ignored] == []


def test_the_extras_exist(root: Path, stages: list[list[Instruction]]) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = [re.search(r"'\.\[([a-z,]+)\]'", arguments) for name, arguments in stages[0] if name == "RUN"]
    assert extras
    assert {"opensearch", "web"} <= set(extras[1].split(",")) <= set(project["optional-dependencies"])


def test_winnow_is_started_by_a_user_who_owns_nothing_but_the_data(stages: list[list[Instruction]]) -> None:
    last = dict(stages[-1])
    assert last["USER"] == "1000"
    assert "useradd --uid 1000 --no-create-home winnow && install --directory --owner=winnow /data" in " ".join(
        last["RUN"].split()
    )
    assert (last["VOLUME"], last["WORKDIR"], last["ENV"]) == ("/data", "/data", "WINNOW_STORE=/data/crawl.winnow")
    assert (last["ENTRYPOINT"], last["CMD"]) == ('["winnow"]', '["serve", "--host", "0.0.0.0"]')
    assert last["EXPOSE"] == str(PORT)
