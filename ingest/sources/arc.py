"""Reads pages from ARC files, the predecessor of WARC: plain, or in gzip members."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO

from opensearch_winnow.foundation.written_time import can_be_capture
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.archive import Archive, Grammar
from opensearch_winnow.ingest.sources.cuts import cut
from opensearch_winnow.ingest.sources.header_fields import text
from opensearch_winnow.ingest.sources.http_page import Block, date, not_fetched, resource, response
from opensearch_winnow.ingest.sources.recovered import recovered
from opensearch_winnow.ingest.sources.split import Damage, Item, Items, Skipped, Split

# URL, address, date, type and length; version 2 has more fields before the length. URLs can have spaces. In front of it
# is the end of a line, or damage.
_LINE = re.compile(
    rb"(?<![ -~])([A-Za-z][A-Za-z0-9+.-]{0,30}:\S[^\r\n]{0,4096}?)"
    rb" (\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,41}|-) (\d{8,20}|null) (\S{1,200})"
    rb"(?: [^\r\n]{0,4096})? (\S{1,20})\r?\n"
)
_FIRST = b"filedesc:"


def _header(data: bytes) -> tuple[int, int | None] | None:
    line = _LINE.match(data)
    return (line.end(), int(line[5]) if line[5].isdigit() else None) if line else None


ARC = Grammar(_LINE, _header)


def looks_like(head: bytes) -> bool:
    """Return whether a file that starts with `head`, compressed or not, is an ARC file."""
    return Archive(io.BytesIO(head), ARC).begins(_FIRST)


def splits(path: str, size: int) -> Iterator[Split]:
    """Yield parts of about `size` bytes, cut where a record starts, or a member that starts with one."""
    with Path(path).open("rb") as file:
        yield from cut(Archive(file, ARC), Split("arc", path), size)


def read(split: Split, page_bytes: int) -> Items:
    """Yield the pages of the records that start in `split`."""
    with Path(split.path).open("rb") as file:
        yield from read_file(file, page_bytes, split.start, split.end, split.archive)


def read_file(file: IO[bytes], page_bytes: int, start: int = 0, end: int | None = None, name: str = "") -> Items:
    """Yield the pages of the records that start at `start` or later and before `end`, in a seekable file.

    `name` is the path of the archive, for the locations of its pages.
    """
    archive = Archive(file, ARC, name)
    end = archive.size if end is None else end
    at = start
    if not archive.size:
        yield 0, Damage(0, "empty file")
    while at < end:
        at = yield from recovered(archive, at, page_bytes, partial(_item, page_bytes=page_bytes))
    yield at, None


def capture(header: bytes) -> tuple[str, datetime | None]:
    """Return the URL and the time in the header of a record."""
    line = _LINE.match(header)
    return (text(line[1]), date(line[3].decode())) if line else ("", None)


def _item(header: bytes, block: Block, page_bytes: int) -> Item | None:
    line = _LINE.match(header)
    if line is None or header.startswith(_FIRST):  # the header of the file itself
        return None
    url, fetched_at = capture(header)
    wrong_date = ""
    if fetched_at is None or not can_be_capture(fetched_at):
        fetched_at, wrong_date = None, line[3].decode()
    reason = not_fetched(url)
    if reason:
        return Skipped(url, reason, fetched_at)
    is_http = url.lower().startswith("http")
    block.record_type = "response" if is_http else "resource"
    blank = Page(url, html=b"", fetched_at=fetched_at, wrong_date=wrong_date)
    if is_http:
        return response(blank, block, page_bytes)
    return resource(blank, line[4].decode("latin-1"), block, page_bytes)
