"""A JSON object of which only some values are decoded; all others stay the bytes that they are."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


class JsonDocument:
    """A JSON object as a client has sent it."""

    def __init__(self, content: bytes) -> None:
        """Parse an object. Raises ValueError if it is none."""
        self._content = content
        self._values: dict[str, bytes] = {key: bytes(raw) for key, raw in _decoder.decode(content).items()}
        self._added: dict[str, bytes] = {}
        self._changed = False

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def raw(self, key: str) -> bytes:
        """Return the bytes of a value."""
        return self._values[key]

    def value(self, key: str) -> Any:
        """Return a value, decoded; None if there is none."""
        return _decoded(self._values[key]) if key in self._values else None

    def at(self, paths: Collection[str]) -> dict[str, Any]:
        """Return the part of the object that has the values at some paths, which may have dots."""
        needed = (key for key in self._values if any(path == key or path.startswith(f"{key}.") for path in paths))
        return {key: _decoded(self._values[key]) for key in needed}

    def remove(self, name: str) -> None:
        """Remove a value, and those whose keys have a dot after its name."""
        kept = {key: raw for key, raw in self._values.items() if key != name and not key.startswith(f"{name}.")}
        if len(kept) < len(self._values):
            self._values, self._changed = kept, True

    def replace(self, key: str, raw: bytes) -> None:
        """Replace the value of a key that exists."""
        if self._values[key] != raw:
            self._values[key], self._changed = raw, True

    def add(self, values: Mapping[str, Any]) -> None:
        """Add values whose keys do not exist yet."""
        self._added |= {key: msgspec.json.encode(value) for key, value in values.items()}

    def content(self) -> bytes:
        """Return the object. What the client has sent is unchanged in it, up to what was removed or replaced."""
        if self._changed:
            return b"{" + b",".join(_members(self._values | self._added)) + b"}"
        if not self._added:
            return self._content
        end = self._content.rindex(b"}")
        comma = b"," if self._values else b""
        return b"".join((self._content[:end], comma, b",".join(_members(self._added)), self._content[end:]))


def _members(values: Mapping[str, bytes]) -> list[bytes]:
    return [msgspec.json.encode(key) + b":" + raw for key, raw in values.items()]


def _decoded(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except ValueError:  # half a surrogate pair, which engines accept
        return json.loads(raw)
