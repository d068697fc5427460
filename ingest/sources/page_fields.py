"""Makes a page from named fields: those of a JSON line, of a Parquet row, or of a crawler's item.

A field has several names. The first that is present and not null counts:

- the URL: url, uri, link
- HTML: html, raw_html; html_base64 for bytes, with content_type and codings, as in the file of failed pages
- text: text; content and body, unless they begin like HTML
- the time of the capture: fetched_at, crawled_at, warc_date, timestamp, date. It is in ISO 8601, in the 14 digits of
  web archives, or a number since 1970: seconds, or milli-, micro- or nanoseconds, which the size of the number shows
- title

If there is both HTML and text, the HTML counts. Fields with other names are ignored.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.files import begins_as_html, too_large

URL = ("url", "uri", "link")
HTML = ("html", "raw_html")
TEXT = ("text",)
HTML_OR_TEXT = ("content", "body")
BASE64 = "html_base64"
DATE = ("fetched_at", "crawled_at", "warc_date", "timestamp", "date")
TITLE = ("title",)
CONTENT = (*HTML, BASE64, *TEXT, *HTML_OR_TEXT)
FIELDS = (*URL, *CONTENT, *DATE, *TITLE, "content_type", "codings")

_1970 = datetime(1970, 1, 1, tzinfo=UTC)


class FieldError(Exception):
    """Fields that do not make a page. The message is a reason, by which pages are counted."""


def page_of(fields: Mapping[str, object], page_bytes: int) -> Page:
    url = url_of(fields)
    if url is None:
        raise FieldError("no url")
    content_type = _string(fields, ("content_type",))
    codings = fields.get("codings") or ()
    if not isinstance(codings, (list, tuple)) or not all(isinstance(coding, str) for coding in codings):
        raise FieldError("codings is not a list of strings")
    html, text = _content(fields, page_bytes)
    fetched_at, title = _moment(fields), _string(fields, TITLE)
    return Page(url, html, text, fetched_at, title, content_type, tuple(codings))


def url_of(fields: Mapping[str, object]) -> str | None:
    url = _string(fields, URL)
    return (url and url.strip()) or None


def _string(fields: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = fields.get(name)
        if value is not None:
            return _encodable(_decoded(value, name), name)
    return None


def _decoded(value: object, name: str) -> str:
    if isinstance(value, bytes):  # from Parquet
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise FieldError(f"{name} is not UTF-8") from None
    if not isinstance(value, str):
        raise FieldError(f"{name} is not a string")
    return value


def _encodable(value: str, name: str, limit: int | None = None) -> str:
    try:
        size = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError:
        raise FieldError(f"half a character in {name}") from None  # a lone surrogate
    if limit is not None and size > limit:
        raise FieldError(too_large(limit))
    return value


def _content(fields: Mapping[str, object], page_bytes: int) -> tuple[str | bytes | None, str | None]:
    """Return HTML or text, and None for the other."""
    encoded = fields.get(BASE64)
    if encoded is not None:
        return _bytes(_decoded(encoded, BASE64), page_bytes), None
    present = [name for name in (*HTML, *TEXT, *HTML_OR_TEXT) if fields.get(name) is not None]
    if not present:
        raise FieldError("neither html nor text")
    name = next((name for name in present if fields[name]), present[0])  # the first that is not empty, if there is one
    value = fields[name]
    is_html = name in HTML
    if isinstance(value, bytes):
        if len(value) > page_bytes:
            raise FieldError(too_large(page_bytes))
        if is_html or (name in HTML_OR_TEXT and begins_as_html(value[:1_024].decode("ascii", "replace"))):
            return value, None
    value = _encodable(_decoded(value, name), name, page_bytes)
    is_html = is_html or (name in HTML_OR_TEXT and begins_as_html(value))
    return (value, None) if is_html else (None, value)


def _bytes(encoded: str, page_bytes: int) -> bytes:
    try:
        decoded = b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise FieldError(f"{BASE64} is not base64") from None
    if len(decoded) > page_bytes:
        raise FieldError(too_large(page_bytes))
    return decoded


def _moment(fields: Mapping[str, object]) -> datetime | None:
    name = next((name for name in DATE if fields.get(name) not in (None, "", b"")), None)
    if name is None:
        return None
    try:
        return _instant(fields[name])
    except (ValueError, OverflowError):
        raise FieldError(f"{name} is not a date") from None


def _instant(value: object) -> datetime:
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        value = value.strip().removesuffix("UTC").rstrip()
        if not value.replace(".", "", 1).isdecimal():
            return _in_utc(datetime.fromisoformat(value))
        value = float(value) if "." in value else int(value)
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError(value)
    digits = str(int(value))
    # A date, or a date and a time, as in web archives: times since 1970 usually have 10, 13, 16 or 19 digits.
    if len(digits) in (8, 14):
        return _in_utc(datetime.fromisoformat(f"{digits[:8]}T{digits[8:] or '000000'}"))
    per_second = next(
        per_second for per_second in (1, 10**3, 10**6, 10**9) if abs(value) < 10**11 * per_second or per_second == 10**9
    )
    return _1970 + timedelta(microseconds=value * 10**6 // per_second)


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
