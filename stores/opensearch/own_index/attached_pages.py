"""Makes pages of the documents of an attached index: reads their fields, and computes winnow's."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest
from opensearch_winnow.foundation.document_paths import text_at
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.hashes import canonical_hashes
from opensearch_winnow.ingest.own_index.attached_reader import USUAL, AttachedReader
from opensearch_winnow.ingest.own_index.date_format import DateFormat
from opensearch_winnow.mappings.attached_fields import AttachedFields, fields_in
from opensearch_winnow.mappings.opensearch_document import hash_fields
from opensearch_winnow.mappings.opensearch_mapping import HASH_MAPPINGS

EngineDocument = Mapping[str, Any]  # as a search or `_mget` returns it: `_index`, `_id`, `_version`, `_source` …


class AttachedPages:
    """Reads pages from documents, and computes the fields that winnow keeps in them."""

    def __init__(self, fields: AttachedFields, scheme: Scheme) -> None:
        self.fields = fields
        self.scheme = scheme
        self._scheme_id = scheme.id
        self.uuids: dict[str, str] = {}  # of the indices, by name: a copy of an index has another one
        self.time_formats: dict[str, DateFormat] = {}  # of the field of the time, by the names of the indices
        self._reader = AttachedReader(fields)

    def note_mappings(self, found: Mapping[str, Any]) -> None:
        """Note how times are written, by the mappings of the indices as `GET /NAME/_mapping` returns them."""
        for index, described in found.items():
            definitions = dict(fields_in(described["mappings"])) if self.fields.time else {}
            written = definitions.get(self.fields.time or "", {}).get("format")
            self.time_formats[index] = DateFormat(written) if isinstance(written, str) else USUAL

    def text(self, source: Mapping[str, Any]) -> str:
        return self._reader.text(source)

    def title(self, source: Mapping[str, Any]) -> str | None:
        return (text_at(source, [self.fields.title]) or None) if self.fields.title else None

    def stored(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that winnow has written to a document.

        All their numbers are whole, but programs through which a document passed may have written 7 as 7.0.
        """
        found = source.get(self.fields.below)
        below = found if isinstance(found, Mapping) else {}
        fields = {name: int(value) if isinstance(value, float) else value for name, value in below.items()}
        cluster = source.get(self.fields.cluster)
        return fields | ({} if cluster is None else {"cluster": cluster})

    def change(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the partial document that changes these fields of winnow.

        The cluster gets a key with a dot, `"winnow.cluster": …`, at the top of the document. To engines that is the
        same field, but the search pipeline finds it only there.
        """
        rest = {name: value for name, value in fields.items() if name != "cluster"}
        if "cluster" not in fields:
            return {self.fields.below: rest}
        return {self.fields.below: rest | {"cluster": None}, self.fields.cluster: fields["cluster"]}

    def make(self, document: EngineDocument) -> dict[str, Any]:
        """Return winnow's fields of a document, except cluster, arrival and stamp. Hashes of no text are empty.

        If the stored fields were made of the same text, they are returned, and nothing is computed but the digest. Only
        a stamp of this index shows that, or one that is the id of its scheme, as `winnow fields` and the gateway
        write it: other fields may have another scheme.
        """
        source = document["_source"]
        text = self.text(source)
        url = self.url(document)
        stored = self.stored(source)
        time = self._reader.time_fields(source, self.time_formats.get(document["_index"], USUAL))
        made = {"id": attached_id(document), **self._reader.address_fields(url), **time}
        if not text:
            return hash_fields() | made
        canon = canonical(text, self.scheme, name=url)
        text_digest = canonical_digest(canon)
        if stored.get("text_digest") != text_digest or not self._is_ours(stored, document):
            stored = hash_fields(canonical_hashes(canon, text_digest, self.scheme))
        return stored | made

    def is_prepared(self, document: EngineDocument, made: Mapping[str, Any]) -> bool:
        """True if a document came with its hashes, by `winnow fields` or the gateway, and `make` has taken them."""
        stored = self.stored(document["_source"])
        return stored.get("text_digest") == made["text_digest"] and (
            stored.get("stamp") == self._scheme_id and self._is_ours(stored, document)
        )

    def complete(
        self, document: EngineDocument, made: Mapping[str, Any], arrival: int, version: int | None
    ) -> dict[str, Any]:
        """Return all of winnow's fields of a document that is about to be written: also its arrival, cluster and stamp.

        `made` are those that `make` has returned, `arrival` is for a document that has none yet, and `version` is what
        the document will have. If nobody can know it, it is None, and the stamp is the id of the scheme: it never
        fits, but shows whose hashes these are.
        """
        stored = self.stored(document["_source"])
        cluster = stored.get("cluster") or made["id"]
        if stored.get("text_digest") not in (None, made["text_digest"]):
            cluster = self.cluster_of_its_own(document)
        fields = {**made, "arrival": stored.get("arrival") or arrival, "cluster": cluster}
        return fields | {"stamp": self._scheme_id if version is None else f"{version}-{self._uuid(document)}"}

    def stamp(self, document: EngineDocument, *, writes: int = 0) -> str:
        """Return the stamp of a document as it is, or as it will be after some writes.

        Each write of any program makes the version of a document one higher. So the fields with this stamp were made
        from the document as it is now, or from one with the same text.
        """
        return f"{document['_version'] + writes}-{self._uuid(document)}"

    def cluster_of_its_own(self, document: EngineDocument) -> str:
        """Return a cluster for a document with another text than before. Not its id: others may be in that cluster."""
        return f"{attached_id(document)}-{document['_version']}"

    def _uuid(self, document: EngineDocument) -> str:
        return self.uuids.get(document["_index"], "")

    def url(self, document: EngineDocument) -> str:
        """Return the address of a document: its `_id` if it has no other."""
        return self._reader.address(document["_source"], str(document["_id"]))

    def _is_ours(self, stored: Mapping[str, Any], document: EngineDocument) -> bool:
        """Return whether stored fields have the scheme of this index, and are complete."""
        stamp = str(stored.get("stamp", ""))
        if stamp == self._scheme_id:
            return all(stored.get(name) is not None for name in HASH_MAPPINGS)
        return stamp.partition("-")[2] == self._uuid(document)


def attached_id(document: EngineDocument) -> str:
    """Return the id of a page in an attached index: 32 hexadecimal digits, whatever its `_id` is."""
    key = f"{document['_index']}\0{document['_id']}".encode()
    return blake2b(key, digest_size=16, person=b"winnow document").hexdigest()
