"""Changes members of a JSON object in place, so that all else stays as it was written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from opensearch_winnow.ingest.sources.jsonl import DECODER

_SPACE = re.compile(r"[ \t\r\n\ufeff]*")


class JsonMember(NamedTuple):
    """A member of an object: its name, its value, and where the value is."""

    name: str
    value: object
    start: int
    end: int


def members(line: str, at: int = 0) -> tuple[list[JsonMember], int]:
    """Return the members of the object that starts at `at` or after spaces there, and where its closing brace is.

    Raises ValueError if there is none.
    """
    found: list[JsonMember] = []
    at = _after(line, "{", at)
    if line[at : at + 1] == "}":
        return found, at
    while True:
        name, at = DECODER.raw_decode(line, at)
        start = _after(line, ":", at)
        value, end = DECODER.raw_decode(line, start)
        found.append(JsonMember(name, value, start, end))
        at = _SPACE.match(line, end).end()  # type: ignore[union-attr]
        if line[at : at + 1] == "}":
            return found, at
        at = _after(line, ",", at)


def is_object(line: str, close: int) -> bool:
    """Return whether nothing follows the brace at `close`."""
    return _SPACE.fullmatch(line, close + 1) is not None


def with_members(
    line: str, found: Sequence[JsonMember], close: int, replaced: Mapping[str, str], added: Mapping[str, str]
) -> str:
    """Return `line` with JSON texts instead of the values of the fields `replaced`, and with the members `added`.

    `found` and `close` are its members. A field `a.b` is the member b within a. A member that is added replaces one of
    the same name.
    """
    changes: list[tuple[int, int, str]] = []
    for name, value in replaced.items():
        changes += [(start, end, value) for start, end in _spans(line, found, name)]
    new = []
    for name, value in added.items():
        same = [(member.start, member.end, value) for member in found if member.name == name]
        changes += same
        if not same:
            new.append(f"{json.dumps(name, ensure_ascii=line.isascii())}: {value}")
    if new:
        last = found[-1].end if found else close
        changes.append((last, last, (", " if found else "") + ", ".join(new)))
    for start, end, value in sorted(changes, reverse=True):
        line = line[:start] + value + line[end:]
    return line


def _spans(line: str, found: Sequence[JsonMember], name: str) -> list[tuple[int, int]]:
    same = [(member.start, member.end) for member in found if member.name == name]
    first, dot, rest = name.partition(".")
    if same or not dot:
        return same
    inner = [member.start for member in found if member.name == first and isinstance(member.value, dict)]
    return [span for start in inner for span in _spans(line, members(line, start)[0], rest)]


def _after(line: str, character: str, at: int) -> int:
    """Return where the next token starts after `character`, which must be the next one from `at` on."""
    at = _SPACE.match(line, at).end()  # type: ignore[union-attr]
    if line[at : at + 1] != character:
        raise ValueError(f"no {character}")
    return _SPACE.match(line, at + 1).end()  # type: ignore[union-attr]
