"""Rules of this repository that no linter checks."""

from __future__ import annotations

import ast
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

MANY_LINES = 400  # a longer file may hold two ideas: the summary of the tests names it. Generated files are long
GENERATED = (
    *("cython_core/unicode_tables", "cython_core/word_tables", "benchmarks/README.md"),
    *("docs/cli.md", "docs/names.md", "docs/papers/", "docs/python.md"),
)
MAX_MARKDOWN_COLUMNS = 120
CODE = (".py", ".pyx", ".pxd", ".pyi")
SUFFIXES = (*CODE, ".h", ".md", ".toml")  # of files that people read
# Docstrings begin with a verb or with their subject (PEP 257).
ELLIPTICAL = re.compile(r'"{3}(?:Of|That|Those|As|And|How many|By which)\b.*')
# Each stood for several things. In brackets, so that a search for one of them does not find this line.
RETIRED = re.compile(r"\b(?:[aA]ske[d]|in_word[s]|MOS[T]|FE[W]|LONGES[T]|AT_ONC[E]|AT_MOS[T]|TOGETHE[R]|so man[y])\b")


@pytest.fixture(scope="module")
def rooms(pyproject: dict[str, Any]) -> set[str]:
    """The rooms as pyproject.toml lists them."""
    folders = pyproject["tool"]["setuptools"]["package-dir"]
    assert folders == {f"opensearch_winnow.{folder}": folder for folder in folders.values()}
    return set(folders.values())


@pytest.fixture(scope="module")
def code(root: Path, rooms: set[str]) -> dict[str, str]:
    """The Python of the product, by its path."""
    paths = [path for room in rooms for path in (root / room).rglob("*.py")]
    paths += (root / "opensearch_winnow").glob("*.py")
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in sorted(paths)}


def test_every_room_is_in_the_list(root: Path, rooms: set[str]) -> None:
    assert {init.parent.name for init in root.glob("*/__init__.py")} == rooms | {"opensearch_winnow"}


def test_every_folder_with_modules_is_a_package(root: Path, code: dict[str, str]) -> None:
    """A folder without `__init__.py` works in a checkout and is absent from the wheel."""
    assert [name for name in code if not (root / name).with_name("__init__.py").is_file()] == []


def test_every_room_has_its_symlink(root: Path, rooms: set[str]) -> None:
    links = {path.name: str(path.readlink()) for path in (root / "opensearch_winnow").iterdir() if path.is_symlink()}
    if not links:
        pytest.skip("a checkout without symlinks: all works, but mypy and editors do not see the rooms")
    assert links == {room: f"../{room}" for room in rooms}


def test_every_room_is_banned_under_its_bare_name_and_has_a_layer(pyproject: dict[str, Any], rooms: set[str]) -> None:
    assert rooms <= set(pyproject["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"])
    (contract,) = (each for each in pyproject["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
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


def test_a_room_does_not_import_the_top_level_package(code: dict[str, str]) -> None:
    importing = re.compile(r"^\s*(from opensearch_winnow import|import opensearch_winnow\b)", re.MULTILINE)
    lower = ("mappings/", "ingest/", "queries/", "stores/", "clusters/")
    assert [name for name, text in code.items() if name.startswith(lower) and importing.search(text)] == []


def test_no_class_name_is_defined_twice(code: dict[str, str]) -> None:
    """A reader searches for a name, even a private one, and finds one class."""
    files: dict[str, list[str]] = {}
    for path, text in code.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(path)
    assert {name: where for name, where in files.items() if len(where) > 1} == {}


def test_docstrings_begin_with_a_verb_or_a_subject(code: dict[str, str]) -> None:
    """A clause instead of a noun ("What was found") has to be read twice."""
    clauses = re.compile(r'"""(?:What|Whether|How|Where|Those|So many) .*')
    assert {name: found for name, text in code.items() if (found := clauses.findall(text))} == {}


@pytest.fixture(scope="module")
def files(root: Path) -> dict[str, str]:
    """The files of this repository that people read, by their names, with those that are not added yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = [name for name in listed.stdout.splitlines() if name.endswith(SUFFIXES) and (root / name).is_file()]
    return {name: (root / name).read_text(encoding="utf-8") for name in names}


def test_long_files_are_named_in_the_summary(files: dict[str, str], request: pytest.FixtureRequest) -> None:
    lengths = {name: len(text.splitlines()) for name, text in files.items() if not name.startswith(GENERATED)}
    long = sorted((length, name) for name, length in lengths.items() if length > MANY_LINES)
    if long:
        named = ", ".join(f"{name} ({length})" for length, name in reversed(long))
        request.node.user_properties.append(("remark", f"files of more than {MANY_LINES} lines: {named}"))


def test_docstrings_name_their_subject_and_retired_words_are_gone(files: dict[str, str]) -> None:
    lines = [(name, line) for name in files if name.endswith(CODE) for line in files[name].splitlines()]
    assert [found for found in lines if ELLIPTICAL.search(found[1]) or RETIRED.search(found[1])] == []


def test_only_operations_reach_into_the_store_of_an_index(code: dict[str, str]) -> None:
    """Commands and screens ask an `Index`: what they need is one of its methods."""
    reaching = {
        name
        for name, text in code.items()
        if name.startswith(("answers/", "cli/", "web/"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == "store"
    }
    assert not reaching


def test_answers_import_nothing_from_stores(code: dict[str, str]) -> None:
    """Rooms below compute; `answers` turns what they return into sentences and JSON."""
    assert not [name for name in code if name.startswith("answers/") and "opensearch_winnow.stores" in code[name]]


def test_lines_of_markdown_fit_a_screen(root: Path) -> None:
    """Tables, pictures, long links and sample output may be wider."""
    long = []
    for path in (*root.glob("*.md"), *(root / "docs").rglob("*.md"), root / "benchmarks" / "README.md"):
        prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        lines = [line for line in prose.splitlines() if len(line) > MAX_MARKDOWN_COLUMNS]
        lines = [line for line in lines if max(map(len, line.split())) < MAX_MARKDOWN_COLUMNS // 2]
        long += [f"{path.name}: {line}" for line in lines if not line.startswith(("|", "!["))]
    assert long == []


def test_make_lists_every_target(root: Path) -> None:
    (targets,) = re.findall(r"^\.PHONY: (.+)", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    listed = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"^make (\S+)", listed, re.MULTILINE)) == sorted(targets.split())


def test_the_usual_files_exist(root: Path) -> None:
    assert all((root / name).is_file() for name in ("LICENSE", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"))


def test_the_tests_named_in_the_makefile_exist(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    (listed,) = re.findall(r"^ON_ENGINES := \$\(addprefix tests/,(.*)\)$", makefile, re.MULTILINE)
    assert [name for name in listed.split() if not (root / "tests" / name).exists()] == []
