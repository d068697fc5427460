"""Leaves those parts of an answer that a client asks for by `filter_path`, as engines do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

import msgspec

Path = tuple[str, ...]  # names of keys, from the outermost inwards; * stands for any text, ** for any number of names


def filtered(content: bytes, filter_path: str) -> bytes:
    """Return the parts of a JSON object that `filter_path` names, without those that it names after a minus sign.

    What is kept whole is not decoded: numbers keep their digits.
    """
    written = [each.strip() for each in filter_path.split(",") if each.strip()]
    included = [_path(each) for each in written if not each.startswith("-")]
    excluded = [_path(each[1:]) for each in written if each.startswith("-")]
    whole = msgspec.Raw(content)
    kept = _included(whole, included) if included else whole
    if excluded and kept is not None:
        kept = _without(kept, excluded)
    return b"{}" if kept is None else bytes(kept)


def _path(written: str) -> Path:
    written = written.removesuffix(".")
    return tuple(name.replace("\\.", ".") for name in re.split(r"(?<!\\)\.", written))


def _included(value: msgspec.Raw, paths: Sequence[Path]) -> msgspec.Raw | None:
    """Return the parts of a value that one of the paths leads to; None if there are none."""
    if any(all(name == "**" for name in path) for path in paths):
        return value
    parts = _parts(value)
    if isinstance(parts, dict):
        some = {name: _included(part, inner) for name, part in parts.items() if (inner := _inside(paths, name))}
        found = {name: part for name, part in some.items() if part is not None}
        return _raw(found) if found else None
    if isinstance(parts, list):
        members = [part for each in parts if (part := _included(each, paths)) is not None]
        return _raw(members) if members else None
    return None


def _without(value: msgspec.Raw, paths: Sequence[Path]) -> msgspec.Raw | None:
    """Return a value without the parts that the paths lead to; None if a path ends here."""
    if any(all(name == "**" for name in path) for path in paths):
        return None
    parts = _parts(value)
    if isinstance(parts, dict):
        some = {
            name: _without(part, inner) if (inner := _inside(paths, name)) else part for name, part in parts.items()
        }
        left = {name: part for name, part in some.items() if part is not None}
        return _raw(left) if left else None
    if isinstance(parts, list):
        members = [part for each in parts if (part := _without(each, paths)) is not None]
        return _raw(members) if members else None
    return value


def _inside(paths: Sequence[Path], name: str) -> list[Path]:
    """Return where the paths go on below a key; an empty path: they end at it."""
    inner: list[Path] = []
    for path in paths:
        if path[0] == "**":
            inner += [path, *_inside([path[1:]], name)]
        elif _matches(path[0], name):
            inner.append(path[1:])
    return list(dict.fromkeys(inner))


def _matches(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern.replace("[", "[[]").replace("?", "[?]"))  # only * means something here


def _parts(value: msgspec.Raw) -> dict[str, msgspec.Raw] | list[msgspec.Raw] | None:
    match bytes(memoryview(value)[:1]):
        case b"{":
            return msgspec.json.decode(value, type=dict[str, msgspec.Raw])
        case b"[":
            return msgspec.json.decode(value, type=list[msgspec.Raw])
    return None


def _raw(value: dict[str, msgspec.Raw] | list[msgspec.Raw]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
