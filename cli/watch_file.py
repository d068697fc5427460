"""Reads watches from JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.operations.watches import Watch, WatchError

FIELDS: dict[str, tuple[type, ...]] = {"name": (str,), "text": (str,), "url": (str,), "min_containment": (int, float)}


def read_watches(path: str, min_containment: float) -> Iterator[Watch]:
    """Yield the watches of a file, or of standard input for "-"; `min_containment` is that of lines without one."""
    try:
        with click.open_file(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _watch(line, f"{path}, line {number:,}", min_containment)
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _watch(line: str, where: str, min_containment: float) -> Watch:
    try:
        document: Any = json.loads(line)
    except ValueError as error:
        raise WatchError(f"{where}: not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise WatchError(f"{where}: a watch is a JSON object with a name, and a text or a url")
    given = {name: value for name, value in document.items() if name in FIELDS and value is not None}
    for name, value in given.items():
        if not isinstance(value, FIELDS[name]) or isinstance(value, bool):
            raise WatchError(f"{where}: the {name} of a watch cannot be {json.dumps(value)[:80]}")
    if ("text" in given) == ("url" in given):
        raise WatchError(f"{where}: give watch {given['name']} a text or a url, one of them")
    return Watch(**{"min_containment": min_containment} | given)
