"""Reads the text, title, address and time of a document of your own from the fields that its owner has named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearch_winnow.foundation.document_paths import text_at, value_at
from opensearch_winnow.foundation.written_time import can_be_date
from opensearch_winnow.ingest.extractors import extractor
from opensearch_winnow.ingest.own_index.date_format import DateFormat
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.mappings.opensearch_document import time_fields
from opensearch_winnow.mappings.record import site_of, storable

USUAL = DateFormat()


class AttachedReader:
    """Reads documents whose fields are named by `fields`."""

    def __init__(self, fields: AttachedFields) -> None:
        self.fields = fields
        self._extract = extractor("lxml") if fields.html else None

    def text(self, document: Mapping[str, Any]) -> str:
        """Return the text to compare; for HTML, the visible text. Raises ExtractError about HTML."""
        text = storable(text_at(document, self.fields.text))
        if self._extract is not None and text:
            text = self._extract(text.encode()).text
        return text.strip()

    def title(self, document: Mapping[str, Any]) -> str | None:
        """Return the title of a document; None if it has none, or if no field of it has been named."""
        return (text_at(document, [self.fields.title]) or None) if self.fields.title else None

    def address(self, document: Mapping[str, Any], id_: str) -> str:
        """Return the address of a document: its URL, or else `id_`."""
        found = text_at(document, [self.fields.url]).partition("\n")[0] if self.fields.url else ""
        return storable(found or id_)

    def address_fields(self, address: str) -> dict[str, Any]:
        """Return the fields of an address."""
        return {"url": address, "url_length": len(address), "site": site_of(address)}

    def time_fields(self, document: Mapping[str, Any], written: DateFormat = USUAL) -> dict[str, Any]:
        """Return the fields of the time of a document, which has the format `written`; none if no field is named.

        They are None if the time cannot be read or cannot be right.
        """
        if self.fields.time is None:
            return {}
        time = written.time(value_at(document, self.fields.time))
        return time_fields(None if time is None or not can_be_date(time) else time)
