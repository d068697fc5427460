"""Makes winnow's fields of a document: its address and time, the hashes of its text, its cluster and its stamp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.hashes import canonical_hashes
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.attached_reader import USUAL, AttachedReader
from opensearch_winnow.ingest.own_index.date_format import DateFormat
from opensearch_winnow.mappings.attached_fields import AttachedFields, fields_in
from opensearch_winnow.mappings.opensearch_document import hash_fields
from opensearch_winnow.mappings.opensearch_mapping import HASH_MAPPINGS


class FieldsMaker:
    """Makes fields. Usage: `FieldsMaker(fields, Scheme()).stamped(AttachedDocument("7", {"body": "A text."}))`.

    A stamp names the version of a document that its fields were made from, and the UUID of the index. Each write of any
    program makes the version one higher. So the fields with the stamp of the present version were made from the
    document as it is, or from one with the same text. Fields whose version cannot be known have the id of their scheme
    as their stamp. It fits no version, but shows that the hashes can be taken if their digest is that of the text.
    """

    def __init__(self, fields: AttachedFields, scheme: Scheme, time_format: DateFormat = USUAL) -> None:
        """`time_format` is that of indices whose mapping is not known."""
        self.fields = fields
        self.scheme = scheme
        self.reader = AttachedReader(fields)
        self.paths = fields.made_from  # of the fields to read
        self.uuids: dict[str, str] = {}  # of indices, by name: a copy of an index has another one
        self.time_formats: dict[str, DateFormat] = {}  # of the field of the time, by the names of the indices
        self._time_format = time_format
        self._scheme_id = scheme.id

    def note_mappings(self, found: Mapping[str, Any]) -> None:
        """Note the formats of times from the mappings of indices, as `GET /NAME/_mapping` returns them."""
        for index, described in found.items():
            definitions = dict(fields_in(described["mappings"])) if self.fields.time else {}
            written = definitions.get(self.fields.time or "", {}).get("format")
            self.time_formats[index] = DateFormat(written) if isinstance(written, str) else USUAL

    def made(self, document: AttachedDocument) -> dict[str, Any]:
        """Return winnow's fields of a document, except arrival and stamp. Hashes of no text are empty.

        If the stored hashes are those of the text, they are returned, and nothing is computed but the digest. A
        document whose text has changed leaves its cluster. It gets a new one, and not that of its id: others may be in
        it.
        """
        reader, page_id = self.reader, document.page_id
        text = reader.text(document.source)
        address = reader.address(document.source, document.id)
        made: dict[str, Any] = {"id": page_id} if document.index_name else {}
        if address:
            made |= reader.address_fields(address)
        made |= reader.time_fields(document.source, self.time_formats.get(document.index_name, self._time_format))
        made |= self._hashes(document, text, address) if text else hash_fields()
        if document.stored.get("text_digest") not in (None, made["text_digest"]):
            made["cluster"] = f"{page_id}-{document.version}"
        elif cluster := document.stored.get("cluster") or page_id:
            made["cluster"] = cluster
        return made

    def stamped(
        self, document: AttachedDocument, *, arrival: int | None = None, version: int | None = None
    ) -> dict[str, Any]:
        """Return all of winnow's fields of a document that is about to be written.

        `arrival` is for a document that has none yet, and `version` is the one that it will have. It must not be too
        high: a later write could reach it. If it is not certain, it is None, and the stamp is the id of the scheme.
        """
        fields: dict[str, Any] = {
            "stamp": self._scheme_id if version is None else self.stamp(document.index_name, version)
        }
        fields |= self.made(document)
        if arrival is not None:
            fields["arrival"] = document.stored.get("arrival") or arrival
        return fields

    def stamp(self, index: str, version: int) -> str:
        """Return the stamp of fields that were made from this version of a document."""
        return f"{version}-{self.uuids.get(index, '')}"

    def fitting_stamp(self, hit: Mapping[str, Any]) -> str:
        """Return the stamp that shows that the fields of a hit were made from it as it is. It needs no source."""
        return self.stamp(hit["_index"], hit["_version"])

    def is_prepared(self, document: AttachedDocument, text_digest: str) -> bool:
        """True if a document with this digest came with its hashes, by `winnow fields` or the gateway."""
        return document.stored.get("stamp") == self._scheme_id and self._has_hashes(document, text_digest)

    def _hashes(self, document: AttachedDocument, text: str, address: str) -> dict[str, Any]:
        canon = canonical(text, self.scheme, name=address or None)
        text_digest = canonical_digest(canon)
        if self._has_hashes(document, text_digest):
            return {name: document.stored[name] for name in HASH_MAPPINGS if name in document.stored}
        return hash_fields(canonical_hashes(canon, text_digest, self.scheme))

    def _has_hashes(self, document: AttachedDocument, text_digest: str) -> bool:
        """Return whether the stored hashes are those of a text, have the scheme of this index, and are complete.

        Only a stamp of this index shows that, or one that is the id of its scheme.
        """
        if document.stored.get("text_digest") != text_digest:
            return False
        stamp = str(document.stored.get("stamp", ""))
        if stamp == self._scheme_id:
            return all(document.stored.get(name) is not None for name in HASH_MAPPINGS)
        return stamp.partition("-")[2] == self.uuids.get(document.index_name, "")
