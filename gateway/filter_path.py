"""Reduces an answer to the parts that a client selects with `filter_path`, as engines do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.limits import MAX_FILTER_STEPS
from opensearch_winnow.gateway.threads import for_searches

Path = tuple[str, ...]  # names of keys, from the outermost inwards; * stands for any text, ** for any number of names
Positions = frozenset[tuple[int, int]]  # the number of a path, and the number of names in it that fit already


async def filtered_apart(content: bytes, filter_path: str) -> bytes:
    """Call `filtered` without keeping other requests waiting."""
    if not filter_path:
        return content
    return await for_searches(filtered, content, filter_path)


def filtered(content: bytes, filter_path: str) -> bytes:
    """Return the parts of a JSON object that `filter_path` selects, without the parts after a minus sign.

    Whole values are not decoded, so numbers keep their digits. Raises QuestionError if it takes too many steps.
    """
    written = [each.strip() for each in filter_path.split(",") if each.strip()]
    included = [_path(each) for each in written if not each.startswith("-")]
    excluded = [_path(each[1:]) for each in written if each.startswith("-")]
    whole = msgspec.Raw(content)
    try:
        kept = _Included(included).part(whole) if included else whole
        if excluded and kept is not None:
            kept = _NotExcluded(excluded).part(kept)
    except RecursionError:
        raise QuestionError("filter_path cannot be applied to an answer that is nested so deeply") from None
    return b"{}" if kept is None else bytes(kept)


def _path(written: str) -> Path:
    written = written.removesuffix(".")
    names = [name.replace("\\.", ".") for name in re.split(r"(?<!\\)\.", written)]
    # Several ** in a row mean the same as one.
    return tuple(name for number, name in enumerate(names) if name != "**" or names[number - 1 : number] != ["**"])


class _Filter:
    """Follows paths into a value. The state at each key is the set of positions that the paths have reached.

    A set has at most as many positions as all paths have names, and the set below each key is remembered. So the cost
    does not grow with the number of ways in which a path matches.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(dict.fromkeys(paths))
        self._below: dict[tuple[Positions, str], Positions] = {}
        self._steps_left = MAX_FILTER_STEPS

    def part(self, value: msgspec.Raw) -> msgspec.Raw | None:
        """Return the remaining part of a value; None if nothing remains."""
        return self._part(value, frozenset((number, 0) for number in range(len(self._paths))))

    def _part(self, value: msgspec.Raw, positions: Positions) -> msgspec.Raw | None:
        raise NotImplementedError

    def _ends(self, positions: Positions) -> bool:
        """Return whether a path ends at this value, perhaps before a final `**`."""
        return any(self._paths[number][position:] in ((), ("**",)) for number, position in positions)

    def _inside(self, positions: Positions, name: str) -> Positions:
        """Return the positions of the paths below a key."""
        self._count(1)
        known = self._below.get((positions, name))
        if known is None:
            self._count(len(positions))
            known = self._below[positions, name] = frozenset(self._next(positions, name))
        return known

    def _next(self, positions: Positions, name: str) -> Iterator[tuple[int, int]]:
        for number, position in positions:
            path = self._paths[number]
            if path[position] == "**":
                yield number, position
                position += 1  # ** also matches no name at all
            if _matches(path[position], name):
                yield number, position + 1

    def _count(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise QuestionError("filter_path takes too long for this answer: use fewer wildcards, or a smaller size")


class _Included(_Filter):
    """Keeps the parts of a value that a path selects."""

    def _part(self, value: msgspec.Raw, positions: Positions) -> msgspec.Raw | None:
        if self._ends(positions):
            return value
        parts = _parts(value)
        if isinstance(parts, dict):
            some = {
                name: self._part(part, below)
                for name, part in parts.items()
                if (below := self._inside(positions, name))
            }
            found = {name: part for name, part in some.items() if part is not None}
            return _raw(found) if found else None
        if isinstance(parts, list):
            members = [part for each in parts if (part := self._part(each, positions)) is not None]
            return _raw(members) if members else None
        return None


class _NotExcluded(_Filter):
    """Keeps a value without the parts that the paths select."""

    def _part(self, value: msgspec.Raw, positions: Positions) -> msgspec.Raw | None:
        if self._ends(positions):
            return None
        parts = _parts(value)
        if isinstance(parts, dict):
            some = {
                name: self._part(part, below) if (below := self._inside(positions, name)) else part
                for name, part in parts.items()
            }
            left = {name: part for name, part in some.items() if part is not None}
            return _raw(left) if left else None
        if isinstance(parts, list):
            members = [part for each in parts if (part := self._part(each, positions)) is not None]
            return _raw(members) if members else None
        return value


def _matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern in which * stands for any text, in time linear in the name's length."""
    first, *rest = pattern.split("*")
    if not rest:
        return name == pattern
    *middle, last = rest
    start, end = len(first), len(name) - len(last)
    if start > end or not name.startswith(first) or not name.endswith(last):
        return False
    for part in middle:
        start = name.find(part, start, end)
        if start < 0:
            return False
        start += len(part)
    return True


def _parts(value: msgspec.Raw) -> dict[str, msgspec.Raw] | list[msgspec.Raw] | None:
    match bytes(memoryview(value)[:1]):
        case b"{":
            return msgspec.json.decode(value, type=dict[str, msgspec.Raw])
        case b"[":
            return msgspec.json.decode(value, type=list[msgspec.Raw])
    return None


def _raw(value: dict[str, msgspec.Raw] | list[msgspec.Raw]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
