"""Reads pages from WARC and WET files: plain, or in members of gzip, LZ4 or Zstandard, also with a dictionary."""

from __future__ import annotations

import io
import re
from collections.abc import Generator, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO

from opensearch_winnow.foundation.written_time import can_be_capture
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.archive import Archive, Grammar
from opensearch_winnow.ingest.sources.archive_records import is_aligned
from opensearch_winnow.ingest.sources.cuts import cut
from opensearch_winnow.ingest.sources.header_fields import HEAD, Fields, end_of_header
from opensearch_winnow.ingest.sources.http_page import Block, date, not_fetched, resource, response, revisit
from opensearch_winnow.ingest.sources.members import DICTIONARY, PLAIN, FileSlice
from opensearch_winnow.ingest.sources.recovered import recovered
from opensearch_winnow.ingest.sources.split import Damage, Item, Items, Skipped, Split

_START = re.compile(rb"WARC/\d\.\d{1,2}[ \t\r]*\n(?=[A-Za-z])")
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:[ \t]*\+?(\d{1,18})[ \t\r]*\n", re.IGNORECASE)
_TYPE = re.compile(rb"\nwarc-type[ \t]*:[ \t]*([\w-]*)", re.IGNORECASE)
_HTTP = re.compile(r"https?:", re.IGNORECASE)
_PAGES = (b"response", b"resource", b"conversion", b"revisit", b"continuation")
_MAX_EMPTY_READS = 2  # of FastWARC, one after another, before we do without it


def _header(data: bytes) -> tuple[int, int | None] | None:
    if not _START.match(data):
        return None
    other = data.find(b"WARC/", 5)
    while other >= 0 and not _START.match(data, other):
        other = data.find(b"WARC/", other + 5)
    end = end_of_header(data, HEAD if other < 0 else other)  # beyond is another's header: this one was cut off
    if end is None:
        return None
    length = _LENGTH.search(data, 0, end)
    return (end, int(length[1]) if length else None) if length or _TYPE.search(data, 0, end) else None


WARC = Grammar(_START, _header)


def looks_like(head: bytes) -> bool:
    """Return whether a file that starts with `head`, compressed or not, is a WARC file."""
    return head.startswith(DICTIONARY) or Archive(io.BytesIO(head), WARC).begins()


def splits(path: str, size: int) -> Iterator[Split]:
    """Yield parts of about `size` bytes, cut where a record starts, or a member that starts with one."""
    with Path(path).open("rb") as file:
        yield from cut(Archive(file, WARC), Split("warc", path), size)


def read(split: Split, page_bytes: int) -> Items:
    """Yield the pages of the records that start in `split`."""
    with Path(split.path).open("rb") as file:
        yield from read_file(file, page_bytes, split.start, split.end, split.archive)


def read_file(file: IO[bytes], page_bytes: int, start: int = 0, end: int | None = None, name: str = "") -> Items:
    """Yield the pages of the records that start at `start` or later and before `end`, in a seekable file.

    `name` is the path of the archive, for the locations of its pages.
    """
    archive = Archive(file, WARC, name)
    end = archive.size if end is None else end
    reads_left = _MAX_EMPTY_READS if is_aligned(archive, start) else 0
    at = start
    if not archive.size:
        yield 0, Damage(0, "empty file")
    while at < end:
        if reads_left:
            at, some = yield from _with_fastwarc(archive, at, end, page_bytes)
            reads_left = _MAX_EMPTY_READS if some else reads_left - 1
        if at < end:
            at = yield from recovered(archive, at, page_bytes, partial(_item, page_bytes=page_bytes))
    yield at, None


def _with_fastwarc(
    archive: Archive, at: int, end: int, page_bytes: int
) -> Generator[tuple[int, Item], None, tuple[int, bool]]:
    """Yield pages as long as one record follows another.

    Returns where the first record starts that needs a closer look or is not before `end`, and whether there was one
    before it. A record is yielded when the next one was found, in a member of its own: then its length and its checksum
    are right.
    """
    from fastwarc.warc import ArchiveIterator  # noqa: PLC0415 (an extra; `formats` has checked that it is installed)

    stream: IO[bytes] | FileSlice = archive.file
    shift = 0
    if archive.dictionary and at:
        stream = FileSlice(archive.file, at, archive.size, before=archive.dictionary[0])
        shift = at - len(archive.dictionary[0])
    else:
        archive.file.seek(at)
    packed = archive.kind != PLAIN
    records = ArchiveIterator(stream, parse_http=False, max_header_len=HEAD, stream_detect=packed)
    pending: tuple[Item | None, Block] | None = None
    some = False
    while True:
        try:
            record = next(records, None)
            if record is None:
                return at, some
            start = record.stream_pos + shift
            if pending:
                if packed and start == at:
                    return at, some
                item, block = pending
                if item:
                    yield at, block.located(item, archive.name, at, start - at)
                some = True
            at = start
            raw = io.BytesIO()
            record.headers.write(raw)
            header = raw.getvalue()
            if at >= end or _header(header) != (len(header), record.content_length):
                return at, some
            block = Block(record.content_length, record.reader.read)
            pending = _item(header, block, page_bytes), block
        except OSError:
            return at, some


def capture(header: bytes) -> tuple[str, datetime | None]:
    """Return the URL and the time in the header of a record."""
    return _capture(Fields(header))


def _capture(found: Fields) -> tuple[str, datetime | None]:
    url = found.get(b"warc-target-uri")
    if url.startswith("<") and url.endswith(">"):  # as Wget wrote it until 2019
        url = url[1:-1]
    return url, date(found.get(b"warc-date"))


def _item(header: bytes, block: Block, page_bytes: int) -> Item | None:
    """Return the page of a record, or None for a type of record that never has pages."""
    kind_field = _TYPE.search(header)
    kind = kind_field[1].lower() if kind_field else b""
    if kind and kind not in _PAGES:
        return None
    found = Fields(header)
    url, fetched_at = _capture(found)
    wrong_date = ""
    if fetched_at is None or not can_be_capture(fetched_at):
        fetched_at, wrong_date = None, found.get(b"warc-date")
    reason = not_fetched(url) if kind else "no record type"
    if kind == b"continuation":
        reason = "continuation of a record"
    if reason:
        return Skipped(url, reason, fetched_at)
    digest = found.get(b"warc-payload-digest") or None
    block.record_type = kind.decode()
    if kind == b"revisit":
        before = found.get(b"warc-refers-to-target-uri").strip("<>") or url
        repeated = Page(url, fetched_at=fetched_at, payload_digest=digest, revisit_of=before, wrong_date=wrong_date)
        return revisit(repeated, block)
    blank = Page(url, html=b"", fetched_at=fetched_at, payload_digest=digest, wrong_date=wrong_date)
    content_type = found.get(b"content-type")
    if kind == b"response" and (content_type.lower().startswith("application/http") or _HTTP.match(url)):
        return response(blank, block, page_bytes)
    item = resource(blank, content_type, block, page_bytes)
    if kind == b"conversion" and isinstance(item, Page) and isinstance(item.html, bytes):
        item.text, item.html = item.html.decode("utf-8", "replace"), None
    return item
