"""Parses a JSON object into its keys and the bytes of its values, and decodes only the values that are needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from json import dumps
from typing import Any

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.ingest.rows import json_members
from opensearch_winnow.ingest.sources.jsonl import DECODER

with extra("fields"):
    import msgspec

BLANK = b" \t\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
TOO_DEEP = "JSON that is nested too deeply"
_VALUES = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENCODER = msgspec.json.Encoder()


class DocumentError(WinnowError):
    """A document cannot get fields. The message is the reason."""


class JsonDocument:
    """A JSON object as it was written. Usage: `JsonDocument(b'{"a": 1}')`, then `add`, then `content`."""

    def __init__(self, content: bytes) -> None:
        """Parse an object. Raises DocumentError if `content` is not a JSON object."""
        self._content = content
        self._values = _values(content)
        self._added: dict[str, Any] = {}
        self._changed = False

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def raw(self, key: str) -> bytes:
        """Return the bytes of a value."""
        return bytes(self._values[key])

    def value(self, key: str) -> Any:
        """Return the decoded value of a key; None if the object does not have it."""
        return decoded(self._values[key]) if key in self._values else None

    def leads_to(self, path: str) -> bool:
        """Return whether a path, or its beginning before a dot, is a key of the object: there may be a value."""
        return any(_leads_to(key, path) for key in self._values)

    def at(self, paths: Collection[str]) -> dict[str, Any]:
        """Return the keys of the object that lead to some paths, with their decoded values."""
        needed = (key for key in self._values if any(_leads_to(key, path) for path in paths))
        return {key: decoded(self._values[key]) for key in needed}

    def remove(self, name: str) -> None:
        """Remove the key `name`, and all keys that begin with it and a dot."""
        kept = {key: raw for key, raw in self._values.items() if key != name and not key.startswith(f"{name}.")}
        if len(kept) < len(self._values):
            self._values, self._changed = kept, True

    def replace(self, key: str, content: bytes) -> None:
        """Replace the value of a key that exists."""
        if self._values[key] != msgspec.Raw(content):
            self._values[key], self._changed = msgspec.Raw(content), True

    def add(self, values: Mapping[str, Any]) -> None:
        """Add values whose keys do not exist yet."""
        self._added |= values

    def content(self) -> bytes:
        """Return the bytes of the object. Unless values were removed or replaced, all bytes stay as they were."""
        if self._changed:
            space = self._content[len(self._content.rstrip(BLANK)) :]
            return _encoded({**self._values, **self._added}) + space
        if not self._added:
            return self._content
        end = self._content.rindex(b"}")
        comma = b"," if self._values else b""
        return b"".join((self._content[:end], comma, _ENCODER.encode(self._added)[1:-1], self._content[end:]))


def _values(content: bytes) -> dict[str, msgspec.Raw]:
    try:
        return _VALUES.decode(content.removeprefix(BYTE_ORDER_MARK))
    except msgspec.ValidationError:
        raise DocumentError("not a JSON object") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _lenient_values(content)
    except RecursionError:
        raise DocumentError(TOO_DEEP) from None


def _lenient_values(content: bytes) -> dict[str, msgspec.Raw]:
    """Return the values of an object that only Python's decoder accepts: with half a surrogate pair, or NaN."""
    text = _text(content)
    try:
        found, close = json_members.members(text)
    except (ValueError, RecursionError):
        raise DocumentError("not JSON") from None
    if not json_members.is_object(text, close):
        raise DocumentError("not JSON")
    return {each.name: msgspec.Raw(text[each.start : each.end].encode()) for each in found}


def decoded(raw: msgspec.Raw) -> Any:
    """Return the decoded value of a key. Raises DocumentError if it cannot be decoded."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):  # only Python's decoder accepts it, or none does
        text = _text(bytes(raw))
    except RecursionError:
        raise DocumentError(TOO_DEEP) from None
    try:
        return DECODER.decode(text)
    except RecursionError:
        raise DocumentError(TOO_DEEP) from None
    except ValueError:
        raise DocumentError("a number with too many digits") from None


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise DocumentError("not UTF-8") from None


def _encoded(values: Mapping[str, Any]) -> bytes:
    try:
        return _ENCODER.encode(values)
    except UnicodeEncodeError:  # half a surrogate pair in a key
        return b"{%s}" % b",".join(dumps(key).encode() + b":" + _ENCODER.encode(each) for key, each in values.items())


def _leads_to(key: str, path: str) -> bool:
    return key == path or path.startswith(f"{key}.")
