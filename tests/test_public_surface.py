"""Everything that users of the library need is importable from four documented modules."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from opensearch_winnow.foundation.stub_names import names_in_stub

if TYPE_CHECKING:
    from opensearch_winnow.stores.engine.running import Running

MODULES = ("opensearch_winnow", "opensearch_winnow.clients", "opensearch_winnow.batch", "opensearch_winnow.types")
# Reached from public classes, but for implementations of stores, or for nobody but the library itself.
INTERNAL = {"Store", "Options", "HasScheme", "LazyStore", "FrequencyCheck", "RepresentativeRule", "Choosable"}
DEEP_IMPORT = re.compile(r"(?:from|import) opensearch_winnow\.(?!clients\b|batch\b|types\b|scrapy\b)\w+")

# For tests that import all public names: some need Spark.
all_names = pytest.mark.check


@pytest.fixture(scope="module")
def public() -> dict[str, Any]:
    """All public objects by name."""
    return {name: getattr(module, name) for module in map(import_module, MODULES) for name in module.__all__}


def test_a_name_is_in_one_module_only() -> None:
    names = [name for module in MODULES for name in import_module(module).__all__]
    assert sorted(names) == sorted(set(names))


def test_a_name_that_there_is_not() -> None:
    for module in map(import_module, MODULES):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            module.nothing  # noqa: B018


def test_importing_a_module_imports_no_store_and_no_parser() -> None:
    code = (
        f"import sys; import {', '.join(MODULES)};"
        "print([each for each in ('lxml', 'sqlite3', 'pyarrow', 'click', 'numpy') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@all_names
def test_types_that_are_taken_or_returned_are_public(public: dict[str, Any]) -> None:
    missing = {
        (owner, each.__name__)
        for owner, value in public.items()
        for each in _classes_of(value)
        if public.get(each.__name__) is not each and each.__name__ not in INTERNAL
    }
    assert missing == set()


def _classes_of(value: Any) -> Iterator[type]:
    """Yield the classes of this package in the annotations of a function, or of a class and its public methods."""
    yield from _annotated(value)
    if inspect.isclass(value):
        for name, member in vars(value).items():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not name.startswith("_") and inspect.isfunction(function):
                yield from _annotated(inspect.unwrap(function))


def _annotated(value: Any) -> Iterator[type]:
    module = sys.modules[value.__module__]
    found = vars(inspect.unwrap(value)).get("__annotations__", {}) if inspect.isclass(value) else None
    annotations = inspect.unwrap(value).__annotations__ if found is None else found
    for name, annotation in annotations.items():
        if not name.startswith("_"):
            for word in re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", str(annotation))):
                named = getattr(module, word, None) or _imported_for_types(module.__file__ or "").get(word)
                if inspect.isclass(named) and named.__module__.startswith("opensearch_winnow."):
                    yield named


def _imported_for_types(file: str) -> dict[str, Any]:
    """Return the names of this package that a module imports for its annotations only."""
    if not file.endswith(".py"):
        return {}
    return {
        alias.name: getattr(import_module(node.module or ""), alias.name, None)
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("opensearch_winnow.")
        for alias in node.names
    }


def test_the_documentation_has_no_deep_imports(root: Path) -> None:
    pages = [root / "README.md", *(root / "docs").glob("*.md")]
    assert {page.name: found for page in pages if (found := DEEP_IMPORT.findall(page.read_text("utf-8")))} == {}


@all_names
def test_stubs_name_where_things_are_defined() -> None:
    for module in map(import_module, MODULES):
        for name, defined_in in names_in_stub(str(module.__file__)).items():
            assert getattr(module, name).__module__ == defined_in, name


@pytest.mark.check
def test_a_program_on_the_surface_only(root: Path, tmp_path: Path, engine: Running) -> None:
    """The program in the documentation is typed strictly, and runs."""
    page = (root / "docs" / "python.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page.partition("<!-- Below")[0], re.DOTALL)
    program = tmp_path / "program.py"
    program.write_text(code, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", program],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    articles = f"{engine.url}/surface-articles"
    document = {"title": "A note", "body": re.findall(r'PARAGRAPH = "(.*)"', code)[0]}
    urllib.request.urlopen(
        urllib.request.Request(
            f"{articles}/_doc/1?refresh=true",
            data=json.dumps(document).encode(),
            headers={"content-type": "application/json"},
        )
    ).close()
    done = subprocess.run(
        [sys.executable, program, articles], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["1 documents have winnow's fields", "['1']"]  # the _id is the address
