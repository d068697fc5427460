"""The Dockerfile uses one Python version, and its image has neither a compiler nor a root user."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from string import Template
from typing import Any

import pytest

from opensearch_winnow.web.server_options import PORT
from tools.lock import LAYERS

Instruction = tuple[str, str]


@pytest.fixture(scope="module")
def instructions(root: Path) -> list[Instruction]:
    """The instructions: name, and arguments joined into one line."""
    text = (root / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", "").splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in joined]


@pytest.fixture(scope="module")
def stages(instructions: list[Instruction]) -> list[list[Instruction]]:
    """The instructions of each stage. Before the first, there are the names of the base images."""
    starts = [i for i, (name, _) in enumerate(instructions) if name == "FROM"]
    images = dict(arguments.split("=") for name, arguments in instructions[: starts[0]] if name == "ARG")
    assert len(images) == starts[0]
    named = [(name, Template(arguments).substitute(images)) for name, arguments in instructions if name == "FROM"]
    ends = [*starts[1:], None]
    return [[each, *instructions[start + 1 : end]] for each, start, end in zip(named, starts, ends, strict=True)]


def lint(file: Path) -> str:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, "--no-color", file], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.check
def test_the_linter_has_nothing_to_say_and_finds_faults(root: Path, tmp_path: Path) -> None:
    assert lint(root / "Dockerfile") == ""
    broken = tmp_path / "Dockerfile"
    broken.write_text((root / "Dockerfile").read_text().replace("${BASE_IMAGE}", "python"))
    assert "DL3006" in lint(broken)


def test_wheels_are_built_with_a_compiler_and_installed_on_the_same_system_without_one(
    pyproject: dict[str, Any], stages: list[list[Instruction]]
) -> None:
    (_, building), (_, running) = (stage[0] for stage in stages)
    version = re.fullmatch(r"python:(3\.\d+)-bookworm AS build", building)
    assert version
    assert running == f"python:{version[1]}-slim-bookworm"
    assert f"Programming Language :: Python :: {version[1]}" in pyproject["project"]["classifiers"]
    assert not [arguments for name, arguments in stages[1] if name == "COPY" or "apt" in arguments]


def test_the_build_copies_everything_that_a_wheel_needs(
    root: Path, pyproject: dict[str, Any], stages: list[list[Instruction]]
) -> None:
    assert [arguments for stage in stages for name, arguments in stage if name in ("ADD", "COPY")] == [". ."]
    ignored = (root / ".dockerignore").read_text(encoding="utf-8").split("\n")
    needed = {*pyproject["tool"]["setuptools"]["package-dir"].values(), "requirements", "opensearch_winnow"}
    needed |= {"setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "README.md"}
    assert [name for name in needed if not (root / name).exists() or name in ignored] == []


def test_every_package_has_a_locked_hash(root: Path, stages: list[list[Instruction]]) -> None:
    """All of them are in files that `make lock` writes, and winnow itself is built with what is in these."""
    (run,) = (arguments for name, arguments in stages[0] if name == "RUN")
    *locked, own = (command.split() for command in run.split("&&"))
    files = [word for command in locked for word in command if word.startswith("requirements/")]
    assert files == [f"requirements/{layer}.txt" for layer in ("build", "demo", "image")]
    assert list(LAYERS)[:3] == ["build", "demo", "image"]  # each has what those before it lack
    assert {"opensearch", "web"} <= {*LAYERS["demo"], *LAYERS["image"]}
    for command in locked:
        assert {"--require-hashes", "--no-deps"} <= set(command)
    assert own[-1] == "."
    assert {"--no-index", "--no-deps", "--no-build-isolation"} <= set(own)
    (install,) = (arguments for name, arguments in stages[1] if name == "RUN")
    assert "pip install --no-cache-dir --no-deps /wheels/*.whl" in install
    assert not [file for file in files if not (root / file).exists()]


def test_winnow_is_started_by_a_user_who_owns_nothing_but_the_data(stages: list[list[Instruction]]) -> None:
    last = dict(stages[-1])
    made = "useradd --uid 1000 --no-create-home winnow && install --directory --owner=winnow /data"
    assert made in " ".join(last["RUN"].split())
    assert (last["VOLUME"], last["WORKDIR"], last["ENV"]) == ("/data", "/data", "WINNOW_STORE=/data/crawl.winnow")
    assert (last["ENTRYPOINT"], last["CMD"]) == ('["winnow"]', '["serve", "--host", "0.0.0.0"]')
    assert (last["USER"], last["EXPOSE"]) == ("1000", str(PORT))
