"""Adds winnow's fields to a document that is JSON, and leaves all else in it as it was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearch_winnow.foundation.document_paths import value_at
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.hashes import hashes_of
from opensearch_winnow.ingest.own_index.attached_reader import USUAL, AttachedReader
from opensearch_winnow.ingest.own_index.date_format import DateFormat
from opensearch_winnow.ingest.own_index.json_document import JsonDocument
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.mappings.opensearch_document import hash_fields
from opensearch_winnow.mappings.record import storable


class DocumentFields:
    """Makes the fields of documents. Usage: `DocumentFields(AttachedFields(text=("body",)), Scheme()).added(line)`.

    The stamp of the fields is the id of their scheme. So `winnow attach --update` knows that it can take the hashes as
    they are, if they are those of the text.
    """

    def __init__(self, fields: AttachedFields, scheme: Scheme, time_format: DateFormat = USUAL) -> None:
        """Without a key in the scheme, the key of the environment is used."""
        self.times_unread = 0  # in documents that have one
        self._time_format = time_format
        self.scheme = with_key(scheme)
        self._fields = fields
        self._reader = AttachedReader(fields)
        self._stamp = self.scheme.id
        self._paths = [path for path in (*fields.text, fields.url, fields.time) if path]

    def made(self, source: Mapping[str, Any], id_: str = "") -> dict[str, Any]:
        """Return winnow's fields of a document. Without a text, the hashes are empty.

        `id_` is its `_id`, if it is known: its address, unless it has another, and its cluster until the documents are
        clustered.
        """
        text = self._reader.text(source)
        address = self._reader.address(source, id_)
        time = self._reader.time_fields(source, self._time_format)
        if time and time["fetched_us"] is None and value_at(source, self._fields.time or "") is not None:
            self.times_unread += 1
        return {
            "stamp": self._stamp,
            **(self._reader.address_fields(address) if address else {}),
            **time,
            **hash_fields(hashes_of(text, self.scheme, address or None)),
            **({"cluster": storable(id_)} if id_ else {}),
        }

    def added(self, document: bytes, id_: str = "", id_field: str = "") -> tuple[bytes, bool]:
        """Return a document, a JSON object, with its fields, and whether it has a text.

        Only what stands at the fields of text, address and time is decoded. `id_field` is the field with the `_id`.
        Raises DocumentError, or ExtractError about its HTML.
        """
        parsed = JsonDocument(document)
        has_text = self.fill(parsed, id_, id_field)
        return parsed.content(), has_text

    def fill(self, document: JsonDocument, id_: str = "", id_field: str = "") -> bool:
        """Do the same to a document that has been parsed."""
        source = document.at([*self._paths, id_field])
        if id_field and isinstance(value := source.get(id_field), str | int):
            id_ = str(value)
        made = self.made(source, id_)
        document.remove(self._fields.below)
        document.add(self._as_written(made))
        return bool(made["text_digest"])

    def has_all_text(self, document: JsonDocument) -> bool | None:
        """Return whether a partial document has all of the text fields; None if it has none of them."""
        present = [document.leads_to(path) for path in self._fields.text]
        return all(present) if any(present) else None

    def _as_written(self, made: dict[str, Any]) -> dict[str, Any]:
        """Return the members of a document that hold its fields. The cluster has a key with a dot: pipelines need it
        there, and to engines it is the same."""
        cluster = made.pop("cluster", None)
        below = {name: value for name, value in made.items() if value is not None}
        return {self._fields.below: below} | ({} if cluster is None else {self._fields.cluster: cluster})
