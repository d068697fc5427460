"""Changes members of a JSON object in place, so that all else stays as it was written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from opensearch_winnow.ingest.sources.jsonl import DECODER

_SPACE = re.compile(r"[ \t\r\n\ufeff]*")


class Member(NamedTuple):
    """A member of an object: its name, and where its value is."""

    name: str
    start: int
    end: int


def members(line: str, at: int = 0) -> tuple[list[Member], int]:
    """Return the members of the object that starts at `at` or after spaces there, and where its closing brace is.

    `line` must be JSON.
    """
    found: list[Member] = []
    at = _after_space(line, _after_space(line, at) + 1)
    while line[at] != "}":
        at = _after_space(line, at + 1) if line[at] == "," else at
        name, at = DECODER.raw_decode(line, at)
        start = _after_space(line, _after_space(line, at) + 1)
        _, end = DECODER.raw_decode(line, start)
        found.append(Member(name, start, end))
        at = _after_space(line, end)
    return found, at


def with_members(line: str, replaced: Mapping[str, str], added: Mapping[str, str]) -> str:
    """Return `line` with JSON texts in place of the values of the fields `replaced`, and with the members `added`.

    A field `a.b` is the member b within a. A member that is added replaces one of the same name.
    """
    found, close = members(line)
    changes: list[tuple[int, int, str]] = []
    for name, value in replaced.items():
        changes += [(start, end, value) for start, end in _places(line, found, name)]
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


def _places(line: str, found: list[Member], name: str) -> list[tuple[int, int]]:
    same = [(member.start, member.end) for member in found if member.name == name]
    first, dot, rest = name.partition(".")
    if same or not dot:
        return same
    inner = [member.start for member in found if member.name == first and line[member.start] == "{"]
    return [place for start in inner for place in _places(line, members(line, start)[0], rest)]


def _after_space(line: str, at: int) -> int:
    space = _SPACE.match(line, at)
    assert space
    return space.end()
