"""Every kind of installation has the compiled core: a wheel without it would install, and fail when it is used.

All tests share one sdist and one optimised build. Tests that only look for files build two modules.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

# One worker runs all of them; otherwise each worker would build the fixtures for itself.
pytestmark = [pytest.mark.check, pytest.mark.xdist_group("packaging")]

OURS = Path(pytest.__file__).parent.parent  # the packages of this environment
FOR_DEVELOPERS = {"all", "bench", "check", "core-tests", "dev", "fuzz"}
TWO = ["minhash", "overlap"]  # they cimport from no other module
BUILD_WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
WHERE = """
import importlib, json, sys
modules = [importlib.import_module("opensearch_winnow.cython_core." + name) for name in sys.argv[1:]]
print(json.dumps([module.__file__ for module in modules]))
"""
# A folder of a room is found without importing the room, which may need what is not installed.
FOUND = """
import importlib.util, json, pathlib, sys
def found(name):
    package, room, *folders = name.split(".")
    folder = pathlib.Path(importlib.util.find_spec(f"{package}.{room}").origin).parent
    return str(folder.joinpath(*folders, "__init__.py").resolve(strict=True))
print(json.dumps([found(name) for name in sys.argv[1:]]))
"""
PATH_OF_LOOPS = """
from opensearch_winnow.cython_core.vectors import use_vectors, vector_path
use_vectors(True)
print(vector_path())
"""


def attempt(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    switches = ("MODULES", "DEBUG", "ASAN", "PORTABLE")
    inherited = {name: value for name, value in os.environ.items() if name not in switches}
    return subprocess.run(command, cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False)


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = attempt(*command, cwd=cwd, **environment)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def empty_environment(folder: Path) -> Path:
    """Create an environment with nothing in it, not even pip, and return its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    return folder / "bin" / "python"


def install(what: list[str | Path], into: Path, cwd: Path, **environment: str) -> Path:
    """Install `what`, without its dependencies, into an empty environment, and return its Python."""
    python = empty_environment(into)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--ignore-installed"]
    run(*pip, f"--prefix={into}", *what, cwd=cwd, **environment)
    return python


def run_tests(python: Path, root: Path, folder: Path, names: list[str]) -> None:
    """Run tests of the checkout on the package installed for `python`, without the checkout or a compiler in reach.

    pytest comes from this environment by PYTHONPATH. The package does not: PYTHONPATH ignores editable installs.
    """
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for name in ("tests", "tools", "cython_core"):
        shutil.copytree(root / name, folder / name, ignore=ignored)
    shutil.copy(root / "pyproject.toml", folder)
    command: list[str | Path] = [python, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "--quiet", *names]
    run(*command, cwd=folder, PATH=str(python.parent), PYTHONPATH=str(OURS))


def symlinks(folder: Path) -> list[Path]:
    return [path for path in (folder / "opensearch_winnow").iterdir() if path.is_symlink()]


def assert_native(python: Path | str, modules: list[str], within: Path) -> None:
    places = json.loads(run(python, "-I", "-c", WHERE, *modules, cwd=Path("/")))
    assert len(places) == len(modules) > 0
    for place in places:
        assert place.endswith(tuple(EXTENSION_SUFFIXES)), place
        assert Path(place).resolve().is_relative_to(within.resolve()), place


def assert_rooms(python: Path, checkout: Path, within: Path) -> None:
    settings = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    rooms = settings["tool"]["setuptools"]["package-dir"].values()
    folders = [init.parent.relative_to(checkout) for room in rooms for init in (checkout / room).rglob("__init__.py")]
    packages = [".".join(("opensearch_winnow", *folder.parts)) for folder in folders]
    for place in json.loads(run(python, "-I", "-c", FOUND, *packages, cwd=Path("/"))):
        assert Path(place).resolve().is_relative_to(within.resolve()), place


@pytest.fixture(scope="module")
def modules(root: Path) -> list[str]:
    return sorted(pyx.stem for pyx in (root / "cython_core").glob("*.pyx"))


@pytest.fixture(scope="module")
def checkout(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files that a clone would have. One test removes its symlinks, so no other may need them."""
    made = (".git", ".venv", "build", "dist", "*.egg-info", "*.so", "*.pyd", "__pycache__", ".*_cache", ".hypothesis")
    ignored = shutil.ignore_patterns(*made)
    return shutil.copytree(root, tmp_path_factory.mktemp("clone") / "checkout", symlinks=True, ignore=ignored)


def build_sdist(checkout: Path, folder: Path, **environment: str) -> Path:
    command: list[str | Path] = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder]
    run(*command, cwd=checkout, **environment)
    (made,) = folder.glob("*.tar.gz")
    return made


@pytest.fixture(scope="module")
def sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of the checkout. The build switches in the environment must not change it."""
    return build_sdist(checkout, tmp_path_factory.mktemp("sdist"), DEBUG="1", MODULES="overlap")


@pytest.fixture(scope="module")
def unpacked_sdist(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return unpacked


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has only setuptools, and no Cython."""
    python = empty_environment(tmp_path_factory.mktemp("builder") / "environment")
    (theirs,) = python.parent.parent.glob("lib/*/site-packages")
    for path in (*OURS.glob("setuptools*"), OURS / "_distutils_hack"):
        (theirs / path.name).symlink_to(path)
    return python


@pytest.fixture(scope="module")
def wheel(unpacked_sdist: Path, builder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist without Cython and repaired by auditwheel, as `make wheel` does it."""
    built, repaired = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("repaired")
    run(builder, "-c", BUILD_WHEEL, built, cwd=unpacked_sdist)
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command: list[str | Path] = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", repaired]
    run(*command, *built.iterdir(), cwd=repaired, PATH=tools)
    (made,) = repaired.iterdir()
    return made


def test_the_environment_of_these_tests_is_native(root: Path, modules: list[str]) -> None:
    assert_native(sys.executable, modules, within=root)


def test_the_sdist_has_the_sources_and_their_c_and_nothing_that_was_built(
    root: Path, unpacked_sdist: Path, modules: list[str]
) -> None:
    names = {path.relative_to(unpacked_sdist).as_posix() for path in unpacked_sdist.rglob("*")}
    assert {f"cython_core/{module}.pyx" for module in modules} <= names
    assert {f"cython_core/{header.name}" for header in (root / "cython_core").glob("*.h")} <= names
    (translated,) = unpacked_sdist.glob("c-*")
    assert {f"{translated.name}/cython_core/{module}.c" for module in [*modules, "_memoryviews"]} <= names
    assert not [name for name in names if name.endswith((*EXTENSION_SUFFIXES, ".pyc"))]


def test_the_c_in_the_sdist_has_no_trace_of_build_switches_or_the_machine(unpacked_sdist: Path, checkout: Path) -> None:
    """The sdist was made with DEBUG=1 in the environment, which would add bounds checks."""
    for path in unpacked_sdist.glob("c-*/cython_core/*.c"):
        c = path.read_text(encoding="utf-8")
        assert "__Pyx_RaiseBufferIndexError" not in c
        assert not [flag for flag in ("-O0", "-O3", str(checkout)) if flag in c]


def test_the_same_sources_make_the_same_sdist(checkout: Path, sdist: Path, tmp_path: Path) -> None:
    """Built again at another time, in another folder, by somebody whose files have other times and permissions."""
    ignored = shutil.ignore_patterns("build", "dist", "*.egg-info")
    again = shutil.copytree(checkout, tmp_path / "elsewhere", symlinks=True, ignore=ignored)
    for path in (again / "README.md", again / "cython_core/overlap.pyx"):
        os.utime(path, (1e9, 1e9))
        path.chmod(0o600)
    made = build_sdist(again, tmp_path, LC_ALL="C", TZ="Asia/Tokyo", PYTHONHASHSEED="1")
    assert made.read_bytes() == sdist.read_bytes()
    with tarfile.open(made) as archive:
        assert {member.mtime for member in archive} == {1_767_225_600}
        assert {(member.uid, member.gid, member.uname, member.gname) for member in archive} == {(0, 0, "", "")}


def test_a_build_from_the_sdist_needs_setuptools_only(unpacked_sdist: Path, checkout: Path) -> None:
    needed = [tomllib.loads((folder / "pyproject.toml").read_text()) for folder in (unpacked_sdist, checkout)]
    theirs, ours = (each["build-system"]["requires"] for each in needed)
    assert (theirs, ours) == (["setuptools>=77"], ["setuptools>=77", "Cython>=3.1"])


def test_stale_c_is_never_built(unpacked_sdist: Path, builder: Path, tmp_path: Path) -> None:
    """After an edit, the C is translated again; without Cython, the build fails."""
    ignored = shutil.ignore_patterns("build")
    edited = shutil.copytree(unpacked_sdist, tmp_path / "edited", ignore=ignored)
    with (edited / "cython_core" / "hashing.pxd").open("a") as source:
        source.write("\n# an edit\n")
    done = attempt(builder, "-c", BUILD_WHEEL, tmp_path, cwd=edited, MODULES="overlap")
    assert done.returncode
    assert "No module named 'Cython'" in done.stderr


def test_the_wheel_has_code_stubs_and_data_and_nothing_else(root: Path, wheel: Path, modules: list[str]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {Path(name) for name in archive.namelist() if not name.endswith("/")}
    name, version, *_ = wheel.name.split("-")
    assert {path.parts[0] for path in names} == {"opensearch_winnow", f"{name}-{version}.dist-info"}
    patterns = ("cython_core/*.pxd", "stores/engine/jars-*.txt", "web/static/*", "web/templates/*")
    wanted = {path.relative_to(root) for pattern in patterns for path in root.glob(pattern)}
    wanted |= {Path("py.typed"), *(Path(f"cython_core/{module}.pyi") for module in modules)}
    assert {"opensearch_winnow" / path for path in wanted} <= names
    assert {path.suffix for path in names if path.parts[0] == "opensearch_winnow"} <= {
        *(".py", ".pyi", ".pxd", ".typed", ".txt", ".html", ".css", ".js", ".svg"),
        Path("module" + EXTENSION_SUFFIXES[0]).suffix,
    }


def test_the_wheel_lists_its_parts(root: Path, wheel: Path, unpacked_sdist: Path) -> None:
    """The SBOM is valid CycloneDX, and names what is compiled in and every requirement of a user."""
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 (only `make check` installs it)
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    name, version, *_ = wheel.name.split("-")
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"{name}-{version}.dist-info/sboms/opensearch-winnow.cdx.json").decode()
        metadata = archive.read(f"{name}-{version}.dist-info/METADATA").decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["version"] == version
    parts = {part["name"]: part for part in bill["components"]}
    (c,) = unpacked_sdist.glob("c-*/cython_core/overlap.c")
    assert f"Cython {parts['Cython']['version']} " in c.read_text(encoding="utf-8").splitlines()[0]
    tables = (root / "cython_core/unicode_tables.h").read_text(encoding="utf-8").splitlines()[0]
    assert f"Unicode {parts['Unicode Character Database']['version']}." in tables
    for line in re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE):
        required, extra = re.fullmatch(r"([\w.-]+)[^;]*(?:; extra == \W(.+)\W)?", line).groups()  # type: ignore[union-attr]
        if extra not in FOR_DEVELOPERS and required != "opensearch-winnow":
            scope = parts[required.lower().replace("_", "-")]["scope"]
            assert scope == ("optional" if extra else "required") or scope == "required", line
    assert not parts.keys() & {"pytest", "mypy", "ruff"}


def test_the_wheel_has_the_golden_hashes_where_there_is_no_compiler(
    root: Path, wheel: Path, modules: list[str], tmp_path: Path
) -> None:
    assert "manylinux_2_17_" in wheel.name
    python = install([wheel], tmp_path / "clean", cwd=tmp_path)
    assert_native(python, modules, within=tmp_path / "clean")
    assert not [name for name in ("cc", "gcc", "clang") if shutil.which(name, path=str(python.parent))]
    run_tests(python, root, tmp_path / "tests", ["tests/test_golden.py"])


@pytest.mark.soak  # a minute; loops are changed rarely
def test_without_vector_loops_the_hashes_are_the_same(
    root: Path, wheel: Path, unpacked_sdist: Path, builder: Path, tmp_path: Path
) -> None:
    """The modules with vector loops are rebuilt without them, and replace those of the wheel."""
    switched = re.compile(r"PORTABLE|vectors\.h")  # headers that check PORTABLE themselves, or by including vectors.h
    headers = [path for path in (root / "cython_core").glob("*.h") if switched.search(path.read_text())]
    including = tuple(f'#include "{header.name}"' for header in headers)
    sources = [(path.stem, path.read_text()) for path in unpacked_sdist.glob("c-*/cython_core/*.c")]
    affected = [name for name, c in sources if any(line in c for line in including)]
    assert {"canonical_text", "estimates", "vectors", "window_minima"} <= set(affected)

    command: list[str | Path] = [builder, "setup.py", "build_ext", "--build-lib", tmp_path / "portable"]
    run(*command, "--build-temp", tmp_path / "objects", cwd=unpacked_sdist, PORTABLE="1", MODULES=" ".join(affected))
    python = install([wheel], tmp_path / "clean", cwd=tmp_path)
    (site,) = (tmp_path / "clean").glob("lib/*/site-packages")
    shutil.copytree(tmp_path / "portable", site, dirs_exist_ok=True)
    assert run(python, "-I", "-c", PATH_OF_LOOPS, cwd=tmp_path) == "portable\n"
    names = [f"tests/cython_core/test_{name}.py" for name in affected if name != "vectors"]
    run_tests(python, root, tmp_path / "tests", ["tests/test_golden.py", *names])


def assert_installs(checkout: Path, into: Path, within: Path, *options: str) -> None:
    python = install([*options, "."], into, cwd=checkout, DEBUG="1", MODULES=" ".join(TWO))
    assert_native(python, TWO, within=within)
    assert_rooms(python, checkout, within=within)


def test_pip_install_is_native_without_the_symlinks(checkout: Path, tmp_path: Path) -> None:
    for link in symlinks(checkout):
        link.unlink()
    assert_installs(checkout, tmp_path / "clean", tmp_path / "clean")


def test_an_editable_install_is_native_with_text_for_symlinks(root: Path, checkout: Path, tmp_path: Path) -> None:
    """On a file system without symlinks, git writes text files that contain their targets."""
    for link in symlinks(root):
        (checkout / link.relative_to(root)).unlink(missing_ok=True)
        (checkout / link.relative_to(root)).write_text(str(link.readlink()))
    assert_installs(checkout, tmp_path / "clean", checkout, "--editable")
