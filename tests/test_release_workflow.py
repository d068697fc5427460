"""The release workflow is valid, pins its actions, has no needless permissions, and builds all wheels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from tests.schema_complaints import schema_complaints

pytestmark = pytest.mark.check

SCHEMA = "vendor.github-workflows"
WORKFLOW = ".github/workflows/release.yml"


@pytest.fixture(scope="module")
def workflow(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(root / WORKFLOW)
    return loaded


@pytest.fixture(scope="module")
def settings(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def broken(root: Path, tmp_path: Path) -> Path:
    """The workflow with a fault for each validator: a misspelt key, and an action that is not pinned to a commit."""
    text = (root / WORKFLOW).read_text().replace("needs: sdist", "need: sdist", 1)
    file = tmp_path / "release.yml"
    file.write_text(re.sub(r"actions/checkout@\w+ # v7.0.1", "actions/checkout@v7", text, count=1))
    return file


def security_faults(file: Path) -> str:
    """Return the faults that zizmor finds, or an empty string."""
    command: list[str | Path] = [
        Path(sys.executable).with_name("zizmor"),
        "--offline",
        "--quiet",
        "--color=never",
        file,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def test_it_is_valid(root: Path) -> None:
    assert schema_complaints(SCHEMA, root / WORKFLOW) == ""


def test_the_validator_finds_faults(broken: Path) -> None:
    assert "'need'" in schema_complaints(SCHEMA, broken)


def test_it_has_no_security_faults(root: Path) -> None:
    assert security_faults(root / WORKFLOW) == ""


def test_the_linter_finds_faults(broken: Path) -> None:
    assert "unpinned-uses" in security_faults(broken)


def test_every_action_is_pinned_by_a_commit_and_says_its_version(root: Path) -> None:
    uses = re.findall(r"uses: (.+)", (root / WORKFLOW).read_text())
    assert uses
    for use in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+(,.*)?", use), use


def test_only_the_publishing_job_has_more_than_read_permission(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    assert {name: job.get("permissions") for name, job in jobs.items()} == {
        "sdist": None,
        "wheels": None,
        "publish": {"id-token": "write"},
    }
    assert jobs["publish"]["environment"] == "pypi"
    assert jobs["publish"]["needs"] == ["sdist", "wheels"]
    assert not [step for step in jobs["publish"]["steps"] if "run" in step]


def test_wheels_are_built_from_the_sdist(workflow: dict[str, Any]) -> None:
    job = workflow["jobs"]["wheels"]
    assert job["needs"] == "sdist"
    (build,) = [step for step in job["steps"] if step.get("uses", "").startswith("pypa/cibuildwheel@")]
    assert build["with"] == {"package-dir": "sdist"}


def test_the_settings_of_cibuildwheel_are_valid(settings: dict[str, Any]) -> None:
    schema = json.loads(files("cibuildwheel").joinpath("resources/cibuildwheel.schema.json").read_text())
    ours = settings["tool"]["cibuildwheel"]
    jsonschema.validate(ours, schema)
    with pytest.raises(jsonschema.ValidationError, match="'test-comand' was unexpected"):
        jsonschema.validate({"test-comand": "true"}, schema)


def test_the_workflow_and_pyproject_name_the_same_cibuildwheel(root: Path, settings: dict[str, Any]) -> None:
    (version,) = re.findall(r"pypa/cibuildwheel@\w+ # v(\S+)", (root / WORKFLOW).read_text())
    assert f"cibuildwheel=={version}" in settings["project"]["optional-dependencies"]["check"]


def test_wheels_are_tested_with_few_packages(root: Path, settings: dict[str, Any], tmp_path: Path) -> None:
    """Tests of the core need no package of an extra, which the environment of a wheel's tests does not have."""
    extras = settings["project"]["optional-dependencies"]
    absent = ("jgo", "jpype", "duckdb", "pyarrow", "opensearchpy", "starlette", "playwright", "requests", "psutil")
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({absent}))\n")
    command = settings["tool"]["cibuildwheel"]["test-command"].split()
    assert settings["tool"]["cibuildwheel"]["test-extras"] == ["core-tests"]
    assert not [line for line in extras["core-tests"] if line.startswith(absent)]
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"}
    done = subprocess.run(
        [sys.executable, *command[1:], "--collect-only", "-q", "-p", "no:xdist"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("platform", "processors", "systems"),
    [
        ("linux", "x86_64,aarch64", ["manylinux", "musllinux"]),
        ("macos", "x86_64,arm64", ["macosx"]),
    ],
)
def test_there_is_a_wheel_for_every_python_system_and_processor(
    root: Path, settings: dict[str, Any], platform: str, processors: str, systems: list[str]
) -> None:
    options = ["--print-build-identifiers", "--platform", platform, "--archs", processors]
    done = subprocess.run(
        [sys.executable, "-m", "cibuildwheel", *options], cwd=root, capture_output=True, text=True, check=True
    )
    classifiers = " ".join(settings["project"]["classifiers"])
    pythons = re.findall(r"Python :: 3\.(\d+)", classifiers)
    wanted = product(pythons, systems, processors.split(","))
    assert sorted(done.stdout.split()) == sorted(f"cp3{minor}-{system}_{cpu}" for minor, system, cpu in wanted)
