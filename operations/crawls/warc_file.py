"""Writes WARC files: copies of archived records, and revisits of them."""

from __future__ import annotations

import gzip
import hashlib
import re
from base64 import b32encode
from datetime import UTC, datetime
from typing import IO, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from opensearch_winnow import __version__
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.ingest.sources.archived_record import ArchivedRecord
from opensearch_winnow.ingest.sources.header_fields import Fields, end_of_header
from opensearch_winnow.mappings.card import Card

PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
HTTP = "application/http; msgtype=response"
COMPRESSION_LEVEL = 6
FIRST_LINE = re.compile(rb"\A[^\r\n]*(\r?\n)")
DATE_LINE = re.compile(rb"^(WARC-Date[ \t]*:[ \t]*)[^\r\n]*", re.IGNORECASE | re.MULTILINE)


class Written(NamedTuple):
    """A written record, and its position in the file."""

    card: Card
    offset: int
    length: int  # in bytes of the file
    payload_digest: str
    record_id: str


class WarcFile:
    """A WARC file that is being written; if `compressed`, each record is a gzip member of its own."""

    def __init__(self, out: IO[bytes], *, compressed: bool = True) -> None:
        self._out = out
        self._compressed = compressed
        self.size = 0
        self._describe()

    def copy(self, card: Card, record: ArchivedRecord) -> Written:
        """Copy a record. A record of an ARC file gets a WARC header."""
        header, digest = record.header, payload_digest(record)
        if record.is_arc:
            fields = {"WARC-Payload-Digest": digest, "Content-Type": HTTP if _is_http(record) else _arc_type(record)}
            header = _header("response" if _is_http(record) else "resource", card, record, fields, len(record.content))
        elif card.fetched_at not in (
            record.date,
            None,
        ):  # its own is missing or impossible, and the user gave one
            header = _with_date(header, card.fetched_at)
        found = Fields(header)
        member = record.member if self._compressed and header is record.header else None
        offset, length = self._write(header + record.content + b"\r\n\r\n", member)
        stated = found.get(b"warc-payload-digest") or digest
        return Written(card, offset, length, stated, found.get(b"warc-record-id"))

    def revisit(self, card: Card, record: ArchivedRecord, original: Written) -> Written:
        """Write a record that says that a capture has the payload of an earlier record."""
        fields = {
            "WARC-Profile": PROFILE,
            "WARC-Payload-Digest": original.payload_digest,
            "WARC-Refers-To": original.record_id,
            "WARC-Refers-To-Target-URI": original.card.url,
            "WARC-Refers-To-Date": _date(original.card.fetched_at),
            "Content-Type": HTTP,
        }
        head = record.content[: _payload_start(record)]
        header = _header("revisit", card, record, fields, len(head))
        offset, length = self._write(header + head + b"\r\n\r\n", None)
        return Written(card, offset, length, original.payload_digest, Fields(header).get(b"warc-record-id"))

    def _describe(self) -> None:
        content = f"software: opensearch-winnow/{__version__}\r\nformat: WARC File Format 1.1\r\n".encode()
        lines = {
            "WARC-Type": "warcinfo",
            "WARC-Record-ID": f"<urn:uuid:{uuid5(NAMESPACE_URL, content.decode())}>",
            "WARC-Date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "Content-Type": "application/warc-fields",
            "Content-Length": str(len(content)),
        }
        self._write(_lines(lines) + content + b"\r\n\r\n", None)

    def _write(self, record: bytes, member: bytes | None) -> tuple[int, int]:
        if member is None:
            member = gzip.compress(record, COMPRESSION_LEVEL, mtime=0) if self._compressed else record
        offset = self.size
        self._out.write(member)
        self.size += len(member)
        return offset, len(member)


def payload_digest(record: ArchivedRecord) -> str:
    """Return the digest of the payload, computed from its bytes, in the form of WARC."""
    payload = record.content[_payload_start(record) :]
    return f"sha1:{b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode()}"


def _payload_start(record: ArchivedRecord) -> int:
    return (end_of_header(record.content) or len(record.content)) if _is_http(record) else 0


def _is_http(record: ArchivedRecord) -> bool:
    return record.content[:5].upper() == b"HTTP/"


def _arc_type(record: ArchivedRecord) -> str:
    return record.header.split(b" ")[3].decode("latin-1")


def _header(kind: str, card: Card, record: ArchivedRecord, fields: dict[str, str], length: int) -> bytes:
    # An id that depends on the capture alone: writing the same captures again gives the same bytes.
    record_id = f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{kind} {card.id}')}>"
    lines = {"WARC-Type": kind, "WARC-Record-ID": record_id, "WARC-Target-URI": card.url}
    lines["WARC-Date"] = _date(card.fetched_at or record.date)
    return _lines({**lines, **fields, "Content-Length": str(length)})


def _with_date(header: bytes, time: datetime | None) -> bytes:
    date = _date(time).encode()
    if DATE_LINE.search(header):
        return DATE_LINE.sub(rb"\g<1>" + date, header, count=1)
    return FIRST_LINE.sub(rb"\g<0>WARC-Date: " + date + rb"\g<1>", header, count=1)


def _lines(fields: dict[str, str]) -> bytes:
    lines = [f"{name}: {value}" for name, value in fields.items() if value]
    return "\r\n".join(["WARC/1.1", *lines, "", ""]).encode()


def _date(time: datetime | None) -> str:
    return "" if time is None else written_time(time)
