"""Rules of this repository that no linter checks."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

import opensearch_winnow

if TYPE_CHECKING:
    from pathlib import Path

MANY_LINES = 400  # a longer file may hold two ideas: the summary of the tests names it. Generated files are long
GENERATED = (
    "cython_core/unicode_tables",
    "cython_core/word_tables",
    "docs/cli.md",
    "docs/names.md",
    "docs/papers/",
    "docs/python.md",
    "benchmarks/README.md",
)
MAX_MARKDOWN_COLUMNS = 120
SUFFIXES = (".py", ".pyx", ".pxd", ".pyi", ".h", ".md", ".toml")  # of files that people read


@pytest.fixture(scope="module")
def rooms(root: Path) -> set[str]:
    """The rooms as pyproject.toml lists them."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    folders = settings["tool"]["setuptools"]["package-dir"]
    assert folders == {f"opensearch_winnow.{folder}": folder for folder in folders.values()}
    return set(folders.values())


def test_every_room_is_in_the_list(root: Path, rooms: set[str]) -> None:
    assert {init.parent.name for init in root.glob("*/__init__.py")} == rooms | {"opensearch_winnow"}


def test_every_folder_with_modules_is_a_package(root: Path, rooms: set[str]) -> None:
    """A folder without `__init__.py` works in a checkout and is absent from the wheel."""
    folders = {path.parent for room in rooms for path in (root / room).rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_every_room_has_its_symlink(root: Path, rooms: set[str]) -> None:
    links = {path.name: str(path.readlink()) for path in (root / "opensearch_winnow").iterdir() if path.is_symlink()}
    if not links:
        pytest.skip("a checkout without symlinks: all works, but mypy and editors do not see the rooms")
    assert links == {room: f"../{room}" for room in rooms}


def test_every_room_is_banned_under_its_bare_name_and_has_a_layer(root: Path, rooms: set[str]) -> None:
    tools = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert rooms <= set(tools["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"])
    (contract,) = (each for each in tools["importlinter"]["contracts"] if each["type"] == "layers")
    layers = {name.strip(" ()") for layer in contract["layers"] for name in layer.replace(":", "|").split("|")}
    assert rooms <= layers


def test_every_compiled_module_has_its_stub(root: Path) -> None:
    core = root / "cython_core"
    assert {pyx.stem for pyx in core.glob("*.pyx")} == {stub.stem for stub in core.glob("*.pyi")}


def test_the_core_has_no_list_comprehension(root: Path) -> None:
    """Cython 3.3.1 frees an item twice if the list cannot grow."""
    for path in (root / "cython_core").glob("*.p[yx][xd]"):
        assert not re.search(r"\[[^\[\]]*\sfor\s[^\[\]]*\sin\s[^\[\]]*\]", path.read_text(encoding="utf-8")), path.name


def test_the_core_imports_nothing_above_it(root: Path) -> None:
    """import-linter checks .py files only."""
    sources = [path for path in (root / "cython_core").iterdir() if path.suffix in (".pyx", ".pxd", ".pyi")]
    imported = {
        name
        for path in sources
        for name in re.findall(r"^\s*(?:from|c?import) (opensearch_winnow\S*)", path.read_text(), re.MULTILINE)
    }
    assert {name for name in imported if not name.startswith("opensearch_winnow.cython_core.")} == set()


@pytest.mark.parametrize("room", ["mappings", "ingest", "queries", "stores", "clusters"])
def test_a_room_does_not_import_the_top_level_package(root: Path, room: str) -> None:
    for path in (root / room).rglob("*.py"):
        assert not re.search(
            r"^\s*(from opensearch_winnow import|import opensearch_winnow\b)", path.read_text(), re.MULTILINE
        )


def test_no_class_name_is_defined_twice(root: Path, rooms: set[str]) -> None:
    """A reader searches for a name, even a private one, and finds one class."""
    files: dict[str, list[str]] = {}
    paths = [path for room in rooms for path in (root / room).rglob("*.py")]
    for path in sorted([*paths, *(root / "opensearch_winnow").glob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(str(path.relative_to(root)))
    twice = {name: where for name, where in files.items() if len(where) > 1}
    assert twice == {}


def test_docstrings_begin_with_a_verb_or_a_subject(root: Path, rooms: set[str]) -> None:
    """A clause instead of a noun ("What was found") has to be read twice."""
    files = [path for room in rooms for path in (root / room).rglob("*.py")]
    clauses = re.compile(r'"""(?:What|Whether|How|Where|Those|So many) .*')
    found = {str(path.relative_to(root)): clauses.findall(path.read_text(encoding="utf-8")) for path in files}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_long_files_are_named_in_the_summary(root: Path, request: pytest.FixtureRequest) -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = [name for name in listed.stdout.splitlines() if name.endswith(SUFFIXES) and not name.startswith(GENERATED)]
    files = [root / name for name in names if (root / name).is_file()]
    lengths = {str(path.relative_to(root)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    long = sorted((length, name) for name, length in lengths.items() if length > MANY_LINES)
    if long:
        named = ", ".join(f"{name} ({length})" for length, name in reversed(long))
        request.node.user_properties.append(("remark", f"files of more than {MANY_LINES} lines: {named}"))


def test_only_operations_reach_into_the_store_of_an_index(root: Path) -> None:
    """Commands and screens ask an `Index`: what they need is one of its methods."""
    paths = [path for room in ("answers", "cli", "web") for path in (root / room).rglob("*.py")]
    reaching = {
        str(path.relative_to(root))
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "store"
    }
    assert not reaching


def test_answers_import_nothing_from_stores(root: Path) -> None:
    """Rooms below compute; `answers` turns what they return into sentences and JSON."""
    for path in (root / "answers").rglob("*.py"):
        assert "opensearch_winnow.stores" not in path.read_text(encoding="utf-8"), path.name


def test_lines_of_markdown_fit_a_screen(root: Path) -> None:
    """Tables, pictures, long links and sample output may be wider."""
    long = []
    for path in (*root.glob("*.md"), *(root / "docs").rglob("*.md"), root / "benchmarks" / "README.md"):
        prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for line in prose.splitlines():
            longest_word = max(map(len, line.split()), default=0)
            if (
                len(line) > MAX_MARKDOWN_COLUMNS
                and not line.startswith(("|", "!["))
                and longest_word < MAX_MARKDOWN_COLUMNS // 2
            ):
                long.append(f"{path.name}: {line}")
    assert long == []


def test_make_lists_every_target(root: Path) -> None:
    (targets,) = re.findall(r"^\.PHONY: (.+)", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    listed = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"^make (\S+)", listed, re.MULTILINE)) == sorted(targets.split())


@pytest.mark.parametrize("name", ["LICENSE", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_the_usual_files_exist(root: Path, name: str) -> None:
    assert (root / name).is_file()


def test_the_stub_of_the_package_imports_every_public_name_from_its_module(root: Path) -> None:
    """`__init__.py` imports nothing until a name is used; type checkers read `__init__.pyi` instead."""
    stub = ast.parse((root / "opensearch_winnow" / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {name.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names}
    modules = vars(opensearch_winnow)["_MODULES"]
    assert imported == {name: f"opensearch_winnow.{module}" for name, module in modules.items()}


def test_the_tests_named_in_the_makefile_exist(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    (listed,) = re.findall(r"^ON_ENGINES := \$\(addprefix tests/,(.*)\)$", makefile, re.MULTILINE)
    assert [name for name in listed.split() if not (root / "tests" / name).exists()] == []
