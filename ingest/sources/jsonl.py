"""Reads pages from JSON lines: one object per line, with a URL and HTML or text. Plain, gzip or Zstandard."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import IO

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import ADDRESS, CONTENT, FieldNames
from opensearch_winnow.ingest.sources.files import file_uri, too_large
from opensearch_winnow.ingest.sources.page_fields import FieldError, address_of, if_readable, page_of
from opensearch_winnow.ingest.sources.split import Damage, Failed, Items, Split
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked

LINE_TYPE = "application/x-ndjson"  # the type of a failed page that is an unreadable line

# Cyrillic and Arabic written as \u0416 take three times the bytes that they have in UTF-8.
_ESCAPED = 3
_BESIDES = 65_536  # bytes of a line besides the content of its page
_PIECE = 1 << 20
_BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r\n" + _BOM  # a BOM can be inside a file: files are often concatenated

# NaN is not JSON, but common: it is read as null. Raw tabs in strings are allowed.
DECODER = json.JSONDecoder(parse_constant=lambda _: None, strict=False)


def looks_like(head: bytes) -> bool:
    """Return whether a file that starts with `head`, once unpacked, holds pages as JSON lines."""
    line, end, _ = head.lstrip(BLANK).partition(b"\n")
    if not line.startswith(b"{"):
        return False
    try:
        fields = object_of(line)
    except FieldError:  # the line may be longer than the head
        return not end and any(f'"{name}"'.encode() in line for name in (*ADDRESS, *CONTENT))
    return any(name in fields for name in ADDRESS) and any(name in fields for name in CONTENT)


def has_objects(head: bytes) -> bool:
    """True if the first line of `head` is an object, and the next one may be: JSON lines, whatever their fields."""
    line, _, rest = head.lstrip(BLANK).partition(b"\n")
    rest = rest.lstrip(BLANK)
    if not line.startswith(b"{") or (rest and not rest.startswith(b"{")):
        return False
    try:
        return bool(object_of(line.rstrip()))
    except FieldError:
        return False


def is_one_document(head: bytes) -> bool:
    """True if a file that starts with `head` is JSON but not JSON lines: an array, or an object on many lines."""
    line = head.lstrip(BLANK).partition(b"\n")[0].rstrip()
    return line.startswith(b"[") or line == b"{"


def line_limit(page_bytes: int) -> int:
    """Return the bytes of the longest line that is read."""
    return _ESCAPED * page_bytes + _BESIDES


def splits(path: str, size: int) -> Iterator[Split]:
    with unpacked(path) as file:
        total = os.stat(path).st_size  # noqa: PTH116
        start = 0
        while file.seekable() and start + size < total:
            end = _line_start(file, start + size)
            if end >= total:
                break
            yield Split("jsonl", path, start, end, end - start)
            start = end
        yield Split("jsonl", path, start, None, total - start)


def read(split: Split, page_bytes: int) -> Items:
    """Yield the pages of the lines that start in `split`. Offsets are bytes of the unpacked file."""
    source = split.base or file_uri(split.path)
    limit = line_limit(page_bytes)
    position = split.start
    try:
        with unpacked(split.path) as file:
            position = _line_start(file, split.start)
            while split.end is None or position < split.end:
                start, line = position, file.readline(limit + 1)
                if not line:
                    break
                position += len(line)
                if len(line) > limit:
                    position += rest_of_line(file, line)
                    yield start, Failed(Page(f"{source}#byte={start}", html=b""), too_large(page_bytes))
                elif stripped := line.strip(BLANK):
                    yield start, item_of(stripped, f"{source}#byte={start}", page_bytes, split.fields)
    except DamagedError as damage:
        yield position, Damage(damage.left, str(damage))
    except OSError as error:
        yield position, Failed(Page(source, html=b""), f"cannot be read: {error.strerror}")
        position = split.end or position
    yield position, None


def _line_start(file: IO[bytes], at: int) -> int:
    """Go to the first line that starts at `at` or later, and return its offset."""
    if at == 0:
        return 0
    if file.seekable():
        file.seek(at - 1)
    else:
        left = at - 1
        while left and (piece := file.read(min(left, _PIECE))):
            left -= len(piece)
    return max(at - 1 + rest_of_line(file), at)


def rest_of_line(file: IO[bytes], line: bytes = b"") -> int:
    """Go to the end of the line that starts with `line`, and return how many bytes this skips."""
    return sum(map(len, pieces_of_line(file, line)))


def pieces_of_line(file: IO[bytes], line: bytes) -> Iterator[bytes]:
    """Yield what follows of the line that starts with `line`."""
    while not line.endswith(b"\n") and (line := file.readline(_PIECE)):
        yield line


def item_of(
    line: bytes,
    where: str,
    page_bytes: int,
    names: FieldNames,
    fields: dict[str, object] | None = None,
    *,
    lenient: bool = False,
) -> Page | Failed:
    """Return the page of a line. `where` is the address of one without an id; `fields` are its fields, if known.

    With `lenient`, it is a row of a data set: a failed one keeps its line, however long it is.
    """
    try:
        fields = object_of(line) if fields is None else fields
        page = page_of(fields, page_bytes, names, where, lenient=lenient)
    except FieldError as error:
        kept = line if lenient or len(line) <= page_bytes else b""
        url = if_readable(address_of, fields or {}, names) or where
        return Failed(Page(url, html=kept, content_type=LINE_TYPE), str(error))
    if page.content_type == LINE_TYPE and isinstance(page.html, bytes) and page.html:
        return item_of(page.html, page.url, page_bytes, names)
    if page.html == b"":  # a failed page that was kept without its body: as an empty page, it would not fail again
        return Failed(page, "its body was not kept")
    return page


def object_of(line: bytes) -> dict[str, object]:
    """Return the object that a line holds. Raises FieldError."""
    try:
        value = DECODER.decode(line.decode())
    except UnicodeDecodeError:
        raise FieldError("not UTF-8") from None
    except RecursionError:
        raise FieldError("nested too deeply") from None
    except json.JSONDecodeError:
        raise FieldError("not JSON") from None
    except ValueError:  # Python refuses numbers that would take minutes to parse
        raise FieldError("a number is too long") from None
    if not isinstance(value, dict):
        raise FieldError("not an object")
    return value
