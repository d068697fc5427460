"""However it is installed, the core is native: a wheel that lost its .pyx installs as well, and only fails later."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

# One worker takes them all, or each would build the fixtures for itself.
pytestmark = [pytest.mark.check, pytest.mark.xdist_group("packaging")]

QUICKLY = {"DEBUG": "1"}  # without optimisation: a quarter of the time, and the same files
WHERE = """
import importlib, json, sys
modules = [importlib.import_module("opensearch_winnow.cython_core." + name) for name in sys.argv[1:]]
print(json.dumps([module.__file__ for module in modules]))
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name not in ("MODULES", "DEBUG", "ASAN")}
    done = subprocess.run(command, cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install(what: list[str], into: Path, cwd: Path, **environment: str) -> Path:
    """A clean environment with only `what` in it, installed with this one's pip, setuptools and Cython; its python."""
    run(sys.executable, "-m", "venv", "--without-pip", into, cwd=cwd)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--ignore-installed"]
    run(*pip, f"--prefix={into}", *what, cwd=cwd, **environment)
    return into / "bin" / "python"


def symlinks(folder: Path) -> list[Path]:
    return [path for path in (folder / "opensearch_winnow").iterdir() if path.is_symlink()]


def assert_native(python: Path | str, modules: list[str], within: Path) -> None:
    places = json.loads(run(python, "-I", "-c", WHERE, *modules, cwd=Path("/")))
    assert len(places) == len(modules) > 0
    for place in places:
        assert place.endswith(tuple(EXTENSION_SUFFIXES)), place
        assert Path(place).resolve().is_relative_to(within.resolve()), place


@pytest.fixture(scope="module")
def modules(root: Path) -> list[str]:
    return sorted(pyx.stem for pyx in (root / "cython_core").glob("*.pyx"))


@pytest.fixture(scope="module")
def checkout(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone of the present state would have. The tests leave it without its symlinks; none may need them."""
    made = (".git", ".venv", "build", "dist", "*.egg-info", "*.so", "*.pyd", "__pycache__", ".*_cache", ".hypothesis")
    ignored = shutil.ignore_patterns(*made)
    return shutil.copytree(root, tmp_path_factory.mktemp("clone") / "checkout", symlinks=True, ignore=ignored)


@pytest.fixture(scope="module")
def distributions(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist of the checkout, and the wheel that was built from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, cwd=checkout, **QUICKLY)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def test_the_environment_of_these_tests_is_native(root: Path, modules: list[str]) -> None:
    assert_native(sys.executable, modules, within=root)


def test_the_sdist_has_the_sources_and_nothing_that_was_built(
    root: Path, distributions: tuple[Path, Path], modules: list[str]
) -> None:
    with tarfile.open(distributions[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {f"cython_core/{module}.pyx" for module in modules} <= names
    assert {f"cython_core/{header.name}" for header in (root / "cython_core").glob("*.h")} <= names
    assert not [name for name in names if name.endswith((*EXTENSION_SUFFIXES, ".pyc"))]


def _shown(root: Path) -> list[Path]:
    """What a browser gets, or is made of."""
    return [*(root / "web/static").iterdir(), *(root / "web/templates").iterdir()]


def test_the_wheel_has_what_runs_and_what_types_and_nothing_else(
    root: Path, distributions: tuple[Path, Path], modules: list[str]
) -> None:
    wheel = distributions[1]
    assert not wheel.stem.endswith("-any"), "a pure wheel: the modules of the core are not in it"
    with zipfile.ZipFile(wheel) as archive:
        names = {Path(name) for name in archive.namelist()}
    assert {path.parts[0] for path in names} == {"opensearch_winnow", wheel.name.rsplit("-", 3)[0] + ".dist-info"}
    wanted = {"py.typed", *(f"cython_core/{module}.pyi" for module in modules)}
    wanted |= {f"cython_core/{pxd.name}" for pxd in (root / "cython_core").glob("*.pxd")}
    wanted |= {f"stores/engine/{listed.name}" for listed in (root / "stores/engine").glob("jars-*.txt")}
    wanted |= {f"web/{path.parent.name}/{path.name}" for path in _shown(root)}
    assert {Path("opensearch_winnow", name) for name in wanted} <= names
    assert {path.suffix for path in names if path.parts[0] == "opensearch_winnow"} <= {
        *(".py", ".pyi", ".pxd", ".typed", ".txt", ".html", ".css", ".js", ".svg"),
        Path("module" + EXTENSION_SUFFIXES[0]).suffix,
    }


def test_the_wheel_of_the_sdist_is_native(distributions: tuple[Path, Path], modules: list[str], tmp_path: Path) -> None:
    python = install([str(distributions[1])], tmp_path / "clean", cwd=tmp_path)
    assert_native(python, modules, within=tmp_path / "clean")


def test_pip_install_is_native_without_the_symlinks(checkout: Path, modules: list[str], tmp_path: Path) -> None:
    for link in symlinks(checkout):
        link.unlink()
    python = install(["."], tmp_path / "clean", cwd=checkout, **QUICKLY)
    assert_native(python, modules, within=tmp_path / "clean")


def test_an_editable_install_is_native_with_text_for_symlinks(
    root: Path, checkout: Path, modules: list[str], tmp_path: Path
) -> None:
    """Where there are no symlinks git writes files that hold their targets."""
    for link in symlinks(root):
        (checkout / link.relative_to(root)).unlink(missing_ok=True)
        (checkout / link.relative_to(root)).write_text(str(link.readlink()))
    python = install(["--editable", "."], tmp_path / "clean", cwd=checkout, **QUICKLY)
    assert_native(python, modules, within=checkout)
