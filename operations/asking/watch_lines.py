"""Reads watches from JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json import dumps, loads
from typing import Any

from opensearch_winnow.operations.asking.watches import Watch, WatchError

FIELDS: dict[str, tuple[type, ...]] = {"name": (str,), "text": (str,), "url": (str,), "min_containment": (int, float)}


def watches_of(lines: Iterable[str], source: str, min_containment: float) -> Iterator[Watch]:
    """Yield the watches of JSON lines from `source`. A line without a `min_containment` gets the one given here."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _watch(line, f"{source}, line {number:,}", min_containment)


def _watch(line: str, where: str, min_containment: float) -> Watch:
    try:
        document: Any = loads(line)
    except ValueError as error:
        raise WatchError(f"{where}: not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise WatchError(f"{where}: a watch is a JSON object with a name, and a text or a url")
    given = {name: value for name, value in document.items() if name in FIELDS and value is not None}
    for name, value in given.items():
        if not isinstance(value, FIELDS[name]) or isinstance(value, bool):
            raise WatchError(f"{where}: the {name} of a watch cannot be {dumps(value)[:80]}")
    if ("text" in given) == ("url" in given):
        raise WatchError(f"{where}: give watch {given['name']} a text or a url, one of them")
    return Watch(**{"min_containment": min_containment} | given)
