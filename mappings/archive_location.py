"""Defines where in a web archive a capture is: the record that it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self


class ArchiveLocation(NamedTuple):
    """The record of a web archive that a capture was read from: where it is, and of what type.

    An archive in a zip file, as in WACZ, is named as if the zip file were a folder: `crawl.wacz/archive/data.warc.gz`.
    """

    file: str  # the path of the archive
    offset: int  # in bytes, where the record starts; in a compressed archive, the member that it is in
    length: int  # in bytes of the file; 0 if other records are in the same member, so that no offset leads to it
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
