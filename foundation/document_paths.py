"""Reads the values of a document along a path with dots, as engines do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def values_at(document: Any, path: str) -> Iterator[Any]:
    """Yield all values at a path, in the order of the document.

    Both `{"a.b": 1}` and `{"a": {"b": 1}}` have a value at `a.b`. Lists, also of objects, give all their values. None
    counts as missing.
    """
    for value in _elements(document):
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if key == path:
                    yield from (each for each in _elements(inner) if each is not None)
                elif path.startswith(f"{key}."):
                    yield from values_at(inner, path[len(key) + 1 :])


def value_at(document: Any, path: str) -> Any:
    """Return the first value at a path, or None if there is none."""
    return next(values_at(document, path), None)


def text_at(document: Any, paths: Sequence[str]) -> str:
    """Return the text at several paths: all their strings, numbers and booleans, in this order, one per line.

    Empty strings and objects are left out. Numbers and booleans are written as in JSON.
    """
    values = (value for path in paths for value in values_at(document, path) if not isinstance(value, Mapping))
    return "\n".join(text for value in values if (text := value if isinstance(value, str) else json.dumps(value)))


def _elements(value: Any) -> Iterator[Any]:
    """Yield the elements of a list, and of lists in it; any other value is its own element."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _elements(each)
    else:
        yield value
