"""Reads the body of an update, and tells which documents it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opensearch_winnow.foundation.document_paths import values_at
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.json_document import JsonDocument


class DocumentUpdate:
    """An update: `doc` changes the document that is stored, and `upsert` is written if there is none."""

    def __init__(self, content: bytes) -> None:
        """Parse the body of an update. Raises DocumentError if it, its `doc` or its `upsert` is not a JSON object."""
        body = self._body = JsonDocument(content)
        self.doc = JsonDocument(body.raw("doc")) if "doc" in body else None
        self.upsert = JsonDocument(body.raw("upsert")) if "upsert" in body else None
        self.is_scripted = "script" in body  # a script changes the document that is stored
        self.scripts_upsert = self.is_scripted and bool(body.value("scripted_upsert"))  # it changes `upsert`, too
        self.upserts_doc = bool(body.value("doc_as_upsert"))  # `doc` is written if no document is stored

    def touched(self, paths: Sequence[str]) -> list[str]:
        """Return the paths at which the partial document may have a value."""
        return [path for path in paths if self.doc is not None and self.doc.leads_to(path)]

    def applied(self, document: AttachedDocument, paths: Sequence[str]) -> AttachedDocument | None:
        """Return a stored document after the partial update; None if it has the same values at `paths` as before."""
        source = merged(document.source, {} if self.doc is None else self.doc.at(paths))
        if all(list(values_at(document.source, path)) == list(values_at(source, path)) for path in paths):
            return None
        return document._replace(source=source)

    def content(self) -> bytes:
        """Return the body with `doc` and `upsert` as they are now."""
        for name, part in (("doc", self.doc), ("upsert", self.upsert)):
            if part is not None:
                self._body.replace(name, part.content())
        return self._body.content()


def merged(document: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document after a partial update, as engines do it: objects are merged, all else is replaced."""
    result = dict(document)
    for key, value in change.items():
        there = result.get(key)
        if isinstance(there, Mapping) and isinstance(value, Mapping):
            value = merged(there, value)
        result[key] = value
    return result
