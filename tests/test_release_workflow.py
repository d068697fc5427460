"""The release workflow is valid, pins its actions, has no needless permissions, and builds all wheels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
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


def security_faults(file: Path) -> str:
    """Return the faults that zizmor finds, or an empty string."""
    zizmor = Path(sys.executable).with_name("zizmor")
    command: list[str | Path] = [zizmor, "--offline", "--quiet", "--color=never", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def test_it_is_valid_and_has_no_security_faults(root: Path) -> None:
    assert schema_complaints(SCHEMA, root / WORKFLOW) == ""
    assert security_faults(root / WORKFLOW) == ""


def test_the_validators_find_faults(root: Path, tmp_path: Path) -> None:
    """One finds a misspelt key, and the other an action that is not pinned to a commit."""
    text = (root / WORKFLOW).read_text().replace("needs: sdist", "need: sdist", 1)
    broken = tmp_path / "release.yml"
    broken.write_text(re.sub(r"actions/checkout@\w+ # v7.0.1", "actions/checkout@v7", text, count=1))
    assert "'need'" in schema_complaints(SCHEMA, broken)
    assert "unpinned-uses" in security_faults(broken)


def test_every_action_is_pinned_by_a_commit_and_says_its_version(root: Path) -> None:
    uses = re.findall(r"uses: (.+)", (root / WORKFLOW).read_text())
    assert uses
    for use in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+(,.*)?", use), use


def test_only_the_publishing_job_has_more_than_read_permission(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    granted = {name: job.get("permissions") for name, job in jobs.items()}
    assert granted == {"sdist": None, "wheels": None, "publish": {"id-token": "write"}}
    assert (jobs["publish"]["environment"], jobs["publish"]["needs"]) == ("pypi", ["sdist", "wheels"])
    assert not [step for step in jobs["publish"]["steps"] if "run" in step]


def test_wheels_are_built_from_the_sdist(workflow: dict[str, Any]) -> None:
    job = workflow["jobs"]["wheels"]
    assert job["needs"] == "sdist"
    (build,) = [step for step in job["steps"] if step.get("uses", "").startswith("pypa/cibuildwheel@")]
    assert build["with"] == {"package-dir": "sdist"}


def test_the_settings_of_cibuildwheel_are_valid(pyproject: dict[str, Any]) -> None:
    schema = json.loads(files("cibuildwheel").joinpath("resources/cibuildwheel.schema.json").read_text())
    jsonschema.validate(pyproject["tool"]["cibuildwheel"], schema)
    with pytest.raises(jsonschema.ValidationError, match="'test-comand' was unexpected"):
        jsonschema.validate({"test-comand": "true"}, schema)


def test_the_workflow_and_pyproject_name_the_same_cibuildwheel(root: Path, pyproject: dict[str, Any]) -> None:
    (version,) = re.findall(r"pypa/cibuildwheel@\w+ # v(\S+)", (root / WORKFLOW).read_text())
    assert f"cibuildwheel=={version}" in pyproject["project"]["optional-dependencies"]["check"]


def test_wheels_are_tested_with_few_packages(root: Path, pyproject: dict[str, Any], tmp_path: Path) -> None:
    """Tests of the core need no package of an extra, which the environment of a wheel's tests does not have."""
    extras, ours = pyproject["project"]["optional-dependencies"], pyproject["tool"]["cibuildwheel"]
    absent = ("jgo", "jpype", "duckdb", "pyarrow", "opensearchpy", "starlette", "playwright", "requests", "psutil")
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({absent}))\n")
    assert ours["test-extras"] == ["core-tests"]
    assert not [line for line in extras["core-tests"] if line.startswith(absent)]
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"}
    command = [sys.executable, *ours["test-command"].split()[1:], "--collect-only", "-q", "-p", "no:xdist"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("platform", "processors", "systems"),
    [("linux", "x86_64,aarch64", ["manylinux", "musllinux"]), ("macos", "x86_64,arm64", ["macosx"])],
)
def test_there_is_a_wheel_for_every_python_system_and_processor(
    root: Path, pyproject: dict[str, Any], platform: str, processors: str, systems: list[str]
) -> None:
    command = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers"]
    command += ["--platform", platform, "--archs", processors]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    pythons = re.findall(r"Python :: 3\.(\d+)", " ".join(pyproject["project"]["classifiers"]))
    wanted = product(pythons, systems, processors.split(","))
    assert sorted(done.stdout.split()) == sorted(f"cp3{minor}-{system}_{cpu}" for minor, system, cpu in wanted)
