"""Adds winnow's fields to a document that is JSON, and leaves all else in it as it was written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.hashes import hashes_of
from opensearch_winnow.ingest.own_reader import OwnReader
from opensearch_winnow.ingest.rows import json_members
from opensearch_winnow.mappings.opensearch_document import hash_fields
from opensearch_winnow.mappings.own_fields import OwnFields
from opensearch_winnow.mappings.record import Record, storable

BLANK = b" \t\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENCODER = msgspec.json.Encoder()

Members = Mapping[str, msgspec.Raw]


class DocumentError(WinnowError):
    """A document that cannot get fields. The message is a reason, by which documents are counted."""


class DocumentFields:
    """Makes the fields of documents. Usage: `DocumentFields(OwnFields(text=("body",)), Scheme()).added(line)`.

    The stamp of the fields is the id of their scheme. So `winnow attach --update` knows that it can take the hashes as
    they are, if they are those of the text.
    """

    def __init__(self, fields: OwnFields, scheme: Scheme) -> None:
        """Without a key in the scheme, the key of the environment is used."""
        self.scheme = with_key(scheme)
        self._fields = fields
        self._reader = OwnReader(fields)
        self._stamp = self.scheme.id
        self._paths = [path for path in (*fields.text, fields.url, fields.time) if path]

    def made(self, source: Mapping[str, Any], id_: str = "") -> dict[str, Any] | None:
        """Return winnow's fields of a document; None if it has no text.

        `id_` is its `_id`, if it is known: its address, unless it has another, and its cluster until the documents are
        clustered.
        """
        text = self._reader.text(source)
        if not text:
            return None
        address = self._reader.address(source, id_)
        hashes = hashes_of(text, self.scheme, address or None)
        return {
            "stamp": self._stamp,
            **(self._reader.address_fields(address) if address else {}),
            **self._reader.time_fields(source),
            **hash_fields(Record(url="", text="", content_digest="", **hashes._asdict())),
            **({"cluster": storable(id_)} if id_ else {}),
        }

    def added(self, document: bytes, id_: str = "", id_field: str = "") -> tuple[bytes, bool]:
        """Return a document, a JSON object, with its fields, and whether it has any: without a text, it has none.

        Only what stands at the fields of text, address and time is decoded. `id_field` is the field with the `_id`.
        Raises DocumentError, or ExtractError about its HTML.
        """
        found = members(document)
        source = self._source(found, id_field)
        if id_field and isinstance(value := source.get(id_field), str | int):
            id_ = str(value)
        made = self.made(source, id_)
        old = [name for name in (self._fields.below, self._fields.cluster) if name in found]
        if made is None:
            return (with_members(document, found, {}, old) if old else document), False
        return with_members(document, found, self._as_written(made), old), True

    def has_all_text(self, found: Members) -> bool | None:
        """Whether a partial document has all of the text fields; None if it has none of them."""
        present = [any(_leads_to(name, path) for name in found) for path in self._fields.text]
        return all(present) if any(present) else None

    def _source(self, found: Members, id_field: str) -> dict[str, Any]:
        """Decode the members that winnow reads."""
        names = (name for name in found if name == id_field or any(_leads_to(name, path) for path in self._paths))
        return {name: _decoded(found[name]) for name in names}

    def _as_written(self, made: dict[str, Any]) -> dict[str, Any]:
        """Return the members of a document that hold its fields. The cluster has a key with a dot: pipelines need it
        there, and to engines it is the same."""
        cluster = made.pop("cluster", None)
        below = {name: value for name, value in made.items() if value is not None}
        return {self._fields.below: below} | ({} if cluster is None else {self._fields.cluster: cluster})


def members(document: bytes) -> dict[str, msgspec.Raw]:
    """Return the members of a JSON object. Raises DocumentError."""
    try:
        return _MEMBERS.decode(document.removeprefix(BYTE_ORDER_MARK))
    except msgspec.ValidationError:
        raise DocumentError("not a JSON object") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _lenient_members(document)
    except RecursionError:
        raise DocumentError("JSON that is nested too deeply") from None


def _lenient_members(document: bytes) -> dict[str, msgspec.Raw]:
    """Return the members of an object that only Python's own decoder reads: one with half a character, or NaN."""
    try:
        text = document.decode()
        found, close = json_members.members(text)
    except (ValueError, RecursionError):
        raise DocumentError("not JSON") from None
    if not json_members.is_object(text, close):
        raise DocumentError("not JSON")
    return {each.name: msgspec.Raw(text[each.start : each.end].encode()) for each in found}


def with_members(document: bytes, found: Members, added: Mapping[str, Any], removed: list[str]) -> bytes:
    """Return a JSON object with other members at its end. `found` are its members, of which `removed` are left out.

    If none is, all bytes of the document stay.
    """
    if not removed:
        end = document.rindex(b"}")
        comma = b"," if found and added else b""
        return b"".join((document[:end], comma, _ENCODER.encode(added)[1:-1], document[end:]))
    kept = {name: value for name, value in found.items() if name not in removed}
    space = document[len(document.rstrip(BLANK)) :]
    return _ENCODER.encode({**kept, **added}) + space


def _decoded(value: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(value)
    except (
        msgspec.DecodeError
    ):  # half a character, or a number beyond all bounds, which only Python's own decoder reads
        return json.loads(bytes(value))


def _leads_to(name: str, path: str) -> bool:
    return name == path or path.startswith(f"{name}.")
