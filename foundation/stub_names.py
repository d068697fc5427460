"""Imports the public names of a module when they are first used, from the modules that its stub names."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

IMPORT = re.compile(r"^from (opensearch_winnow\.\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


def names_in_stub(file: str) -> dict[str, str]:
    """Return the modules of the names that the stub beside a module imports, by name."""
    found = IMPORT.findall(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {name: module for module, *lists in found for name in re.findall(r"(\w+) as \1", " ".join(lists))}


def from_stub(module: str, file: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return the functions `__getattr__` and the list `__all__` of a module that has a stub, and nothing else.

    So a service that calls one function does not wait for the parsers and stores of the others, and the stub is the
    only list of public names.
    """
    modules = names_in_stub(file)

    def get(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name]), name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get, list(modules)
