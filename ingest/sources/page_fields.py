"""Makes a page from the named fields of a JSON line, a row of Parquet or CSV, or the item of a crawler.

Fields are found by the names in `field_names`. Times are in ISO 8601, in the 14 digits of web archives, or a number
since 1970: seconds, or milli-, micro- or nanoseconds, which the size of the number shows.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import (
    ADDRESS,
    BASE64,
    DATE,
    HTML,
    HTML_OR_TEXT,
    TEXT,
    URL,
    USUAL,
    FieldNames,
    ValueNames,
    value_at,
)
from opensearch_winnow.ingest.sources.files import begins_as_html, too_large

_Value = TypeVar("_Value")

_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_MONTH = re.compile(r"\d{4}-\d\d")


class FieldError(Exception):
    """Fields that do not make a page. The message is a reason, by which pages are counted."""


def page_of(
    fields: Mapping[str, object],
    page_bytes: int,
    names: FieldNames = USUAL,
    where: str | None = None,
    *,
    lenient: bool = False,
) -> Page:
    """Return the page of a row. Without an id, its address is `where`; if that is None, it is an error.

    With `lenient`, a title and a time that cannot be read are left out, and so are the fields about HTML in a row of
    text: in a data set, fields of these names may mean something else.
    """
    url = address_of(fields, names) or where
    if url is None:
        raise FieldError("no url")
    if isinstance(names, ValueNames):
        return Page(url, text="")
    html, text = _content(fields, content_field(fields, names), names, page_bytes)
    if lenient and html is None:
        time = if_readable(_moment, fields)
        page = Page(url, None, text, time, if_readable(_title, fields, names))
        page.wrong_date = str(fields[name]) if time is None and (name := _date_field(fields)) else ""
        return page.with_possible_date()
    content_type = _string(fields, ("content_type",))
    codings = fields.get("codings") or ()
    if not isinstance(codings, (list, tuple)) or not all(isinstance(coding, str) for coding in codings):
        raise FieldError("codings is not a list of strings")
    page = Page(url, html, text, _moment(fields), _title(fields, names), content_type, tuple(codings))
    return page.with_possible_date()


def address_of(fields: Mapping[str, object], names: FieldNames = USUAL) -> str | None:
    """Return the id or the URL of a row: any string that is not blank, or an integer."""
    for name in ADDRESS if names is USUAL else names.addresses:
        value = fields.get(name)
        if value is None and (names is USUAL or (value := value_at(fields, name)) is None):
            continue
        if isinstance(value, int) and not isinstance(value, bool) and name not in URL:
            return str(value)
        address = _encodable(_decoded(value, name), name)
        if stripped := address.strip():
            return stripped if name in URL else address
    return None


def content_field(fields: Mapping[str, object], names: FieldNames = USUAL) -> str:
    """Return the name of the field that holds the HTML or text of a row."""
    if names.contents:
        named = next((name for name in names.contents if value_at(fields, name) is not None), None)
        if named is None:
            raise FieldError(f"no {' or '.join(names.contents)}")
        return named
    if fields.get(BASE64) is not None:
        return BASE64
    present = [name for name in (*HTML, *TEXT, *HTML_OR_TEXT) if fields.get(name) is not None]
    if not present:
        raise FieldError("neither html nor text")
    return next((name for name in present if fields[name]), present[0])  # the first that is not empty, if there is one


def _title(fields: Mapping[str, object], names: FieldNames) -> str | None:
    return _string(fields, names.titles)


def if_readable(read: Callable[..., _Value], *arguments: object) -> _Value | None:
    """Return what `read` returns, or None if the fields cannot be read."""
    try:
        return read(*arguments)
    except FieldError:
        return None


def _string(fields: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = value_at(fields, name)
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


def _content(
    fields: Mapping[str, object], name: str, names: FieldNames, page_bytes: int
) -> tuple[str | bytes | None, str | None]:
    """Return the HTML or text in the field `name`, and None for the other."""
    value = value_at(fields, name)
    if name == BASE64:
        return _bytes(_decoded(value, BASE64), page_bytes), None
    is_html = name == names.html or name.rpartition(".")[2] in HTML
    may_be_html = name in HTML_OR_TEXT and name != names.text
    if isinstance(value, bytes):
        if len(value) > page_bytes:
            raise FieldError(too_large(page_bytes))
        if is_html or (may_be_html and begins_as_html(value[:1_024].decode("ascii", "replace"))):
            return value, None
    value = _encodable(_decoded(value, name), name, page_bytes)
    is_html = is_html or (may_be_html and begins_as_html(value))
    return (value, None) if is_html else (None, value)


def _bytes(encoded: str, page_bytes: int) -> bytes:
    try:
        decoded = b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise FieldError(f"{BASE64} is not base64") from None
    if len(decoded) > page_bytes:
        raise FieldError(too_large(page_bytes))
    return decoded


def _date_field(fields: Mapping[str, object]) -> str | None:
    return next((name for name in DATE if fields.get(name) not in (None, "", b"")), None)


def _moment(fields: Mapping[str, object]) -> datetime | None:
    name = _date_field(fields)
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
            return _in_utc(datetime.fromisoformat(f"{value}-01" if _MONTH.fullmatch(value) else value))
        value = float(value) if "." in value else int(value)
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError(value)
    digits = str(int(value))
    # A year, a month, a day, or a day and a time, as in web archives: times since 1970 usually have 10, 13, 16 or 19
    # digits.
    if len(digits) in (4, 6, 8, 14):
        return _in_utc(datetime.fromisoformat(f"{f'{digits}0101'[:8]}T{digits[8:] or '000000'}"))
    per_second = next(
        per_second for per_second in (1, 10**3, 10**6, 10**9) if abs(value) < 10**11 * per_second or per_second == 10**9
    )
    return _1970 + timedelta(microseconds=value * 10**6 // per_second)


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
