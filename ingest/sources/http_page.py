"""Makes a page from a capture: HTTP headers and a body, or a body and its type.

A page has status 200 and is HTML or text for people: text/*, except types that are made for machines. If the server
names no valid type, the first bytes decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from opensearch_winnow.ingest.canonical_link import header_link
from opensearch_winnow.ingest.http_body import BodyError, decoded
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.files import HTML, TEXT, too_large, type_of
from opensearch_winnow.ingest.sources.header_fields import HEAD, Fields, end_of_header, text
from opensearch_winnow.ingest.sources.split import Failed, Item, Skipped
from opensearch_winnow.mappings.archive_location import ArchiveLocation

_MARKUP = (HTML, "application/xhtml+xml", "application/vnd.wap.xhtml+xml")
_FOR_MACHINES = re.compile(
    r"text/(?:css|.*javascript|.*ecmascript|jscript|.*json|.*xml|xsl|csv|tab-separated-values|vtt|srt|calendar"
    r"|(?:x-)?vcard|directory|event-stream|cache-manifest|dns|x-component|x-cross-domain-policy|rtf|uri-list)"
)
_NO_TYPE = ("unknown/unknown", "application/unknown", "application/x-unknown-content-type", "content/unknown")
_TYPE = re.compile(r"[a-z0-9][\w.+!#$&^-]{0,63}/[a-z0-9][\w.+!#$&^-]{0,126}")
_STATUS = re.compile(rb"HTTP/?[\d.]*[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_NOT_FETCHED = re.compile(r"(dns|metadata|urn|whois|filedesc|warcinfo|screenshot):", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_DIGITS = re.compile(r"\d{8,20}")


class Block:
    """The content of an archived record, read only as far as it is needed, and what its headers say of a page in it."""

    def __init__(self, length: int, read: Callable[[int], bytes]) -> None:
        self.length = self.left = length  # in bytes, as the record says
        self.record_type = ""  # of WARC
        self.status: int | None = None  # of HTTP
        self.mime: str | None = None
        self._read = read

    def located(self, item: Item, file: str, offset: int, length: int) -> Item:
        """Return `item`, which was made from this block; if it is a page, with the location of its record.

        The archive `file` is empty if it was piped in: then its records cannot be read again.
        """
        if isinstance(item, Page) and file:
            item.source = ArchiveLocation(file, offset, length, self.record_type, self.status, self.mime)
        return item

    def head(self) -> bytes:
        """Read as many bytes as HTTP headers may take."""
        head = self._read(min(self.length, HEAD))
        self.left -= len(head)
        return head

    def rest(self) -> bytes:
        return self._read(self.left)


def date(text: str) -> datetime | None:
    """Parse a date in any precision of WARC, from a year to nanoseconds, or in the digits of ARC."""
    try:
        if _DIGITS.fullmatch(text):
            return datetime.strptime(text[:14].ljust(14, "0"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        short = _DATE.fullmatch(text)
        if short:
            return datetime(int(short[1]), int(short[2] or 1), int(short[3] or 1), tzinfo=UTC)
        when = datetime.fromisoformat(text)
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def not_fetched(url: str) -> str | None:
    """Return why `url` is not that of a page: crawlers also archive DNS lookups, logs and settings."""
    if not url:
        return "no URL"
    found = _NOT_FETCHED.match(url)
    return f"scheme {found[1].lower()}" if found else None


def response(blank: Page, block: Block, page_bytes: int) -> Item:
    """Fill in `blank`, a page without its content, from an HTTP response."""
    head = block.head()
    status = _STATUS.match(head)
    if status is None:
        return Failed(blank, "no HTTP status")
    if status[1] != b"200":
        return Skipped(blank.url, f"status {status[1].decode()}", blank.fetched_at)
    block.status = 200
    end = end_of_header(head) or (len(head) if len(head) == block.length else 0)  # headers and no body
    if not end:
        return Failed(blank, "HTTP headers that do not end")
    found = Fields(head[:end])
    codings = b",".join(found.all(b"content-encoding") + found.all(b"transfer-encoding"))
    if codings:
        names = (coding.strip().lower() for coding in codings.decode("latin-1").split(","))
        blank.codings = tuple(name for name in names if name not in ("", "identity"))
    blank.canonical = header_link([text(link) for link in found.all(b"link")])
    return _page(blank, found.get(b"content-type"), head[end:], block, page_bytes)


def resource(blank: Page, content_type: str, block: Block, page_bytes: int) -> Item:
    """Fill in `blank` from a body of this type that was captured without HTTP headers."""
    return _page(blank, content_type, b"", block, page_bytes)


def revisit(blank: Page, block: Block) -> Item:
    """Fill in `blank` from a revisit, unless its headers show that it is not a page."""
    head = block.head()
    status = _STATUS.match(head)
    if status is None:
        return blank
    if status[1] not in (b"200", b"304"):
        return Skipped(blank.url, f"status {status[1].decode()}", blank.fetched_at)
    content_type = Fields(head[: end_of_header(head)]).get(b"content-type")
    kind = _kind(content_type)
    if kind and not _is_page(kind):
        return Skipped(blank.url, f"type {kind}", blank.fetched_at)
    blank.content_type = content_type or None
    block.status, block.mime = int(status[1]), kind or None
    return blank


def _page(blank: Page, content_type: str, first: bytes, block: Block, page_bytes: int) -> Item:
    """Fill in the body, if it is a page. `first` is the part of it that was read with the headers."""
    kind = _kind(content_type)
    if kind and not _is_page(kind):
        return Skipped(blank.url, f"type {kind}", blank.fetched_at)
    blank.content_type = content_type or None
    if len(first) + block.left > page_bytes:
        return Failed(blank, too_large(page_bytes))
    blank.html = first + block.rest() if block.left else first
    if not kind:
        try:
            kind = type_of("", decoded(blank.html, blank.codings, page_bytes)[:4_096])
        except BodyError:
            kind = ""
        if kind not in (HTML, TEXT):
            return Skipped(blank.url, "no type", blank.fetched_at)
        blank.content_type = kind
    block.mime = kind
    return blank


def _kind(content_type: str) -> str:
    """Return the type without its parameters, or "" if it is not a valid one."""
    kind = content_type.partition(";")[0].partition(",")[0].strip().lower()
    return kind if _TYPE.fullmatch(kind) and kind not in _NO_TYPE else ""


def _is_page(kind: str) -> bool:
    return kind in _MARKUP or (kind.startswith("text/") and not _FOR_MACHINES.fullmatch(kind))
