"""Defines the location of a capture in a web archive: the record that it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self


class ArchiveLocation(NamedTuple):
    """The location and type of the web archive record that a capture was read from.

    An archive in a zip file, as in WACZ, is named as if the zip file were a folder: `crawl.wacz/archive/data.warc.gz`.
    """

    file: str  # the path of the archive
    offset: int  # in bytes, of the record; in a compressed archive, of the member that holds it
    length: int  # in bytes of the file; 0 if the member holds other records too: then no offset leads to this one
    record_type: str  # of WARC, in lower case: "response", "resource", "conversion", "revisit"
    status: int | None = None  # of HTTP
    mime: str | None = None  # the type of the content, without parameters, in lower case

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> Self | None:
        """Return the location that `_asdict` made `document` from. Raises ValueError for anything else."""
        if document is None:
            return None
        location = cls(**document)
        kinds = (str, int, int, str, int | None, str | None)
        if not all(isinstance(value, kind) for value, kind in zip(location, kinds, strict=True)):
            raise ValueError(f"source is {document!r}")
        return location
