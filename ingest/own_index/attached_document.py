"""Describes a document of an index of your own, as an engine returns it or a client sends it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.mappings.record import storable

NOTHING: Mapping[str, Any] = MappingProxyType({})


class AttachedDocument(NamedTuple):
    """A document, and the fields that winnow has stored in it before."""

    id: str  # its `_id`; empty if it is not known
    source: Mapping[str, Any] = NOTHING  # its fields, or those of them that winnow's fields are made from
    stored: Mapping[str, Any] = NOTHING  # winnow's fields, by name
    index_name: str = ""  # empty if it is not known
    version: int | None = None  # that it has in the index; None if it is not there

    @classmethod
    def of(cls, hit: Mapping[str, Any], fields: AttachedFields) -> Self:
        """Return a document from a hit of a search, or from an answer to `_mget`."""
        source = hit.get("_source", NOTHING)
        return cls(str(hit["_id"]), source, fields.stored(source), hit["_index"], hit.get("_version"))

    @property
    def next_version(self) -> int:
        """The version after one more write."""
        return (self.version or 0) + 1

    @property
    def page_id(self) -> str:
        """The id of its page: 32 hexadecimal digits, whatever its `_id` is; its `_id` if the index is not known."""
        if not self.index_name:
            return storable(self.id)
        key = f"{self.index_name}\0{self.id}".encode()
        return blake2b(key, digest_size=16, person=b"winnow document").hexdigest()
