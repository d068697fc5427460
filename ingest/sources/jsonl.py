"""Reads rows from JSON lines: one object per line. Plain, gzip or Zstandard."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import ADDRESS, CONTENT
from opensearch_winnow.ingest.sources.files import too_large
from opensearch_winnow.ingest.sources.page_fields import FieldError, address_of, if_readable, page_of
from opensearch_winnow.ingest.sources.source_row import RowChoice, Rows
from opensearch_winnow.ingest.sources.split import Damage, Failed, Split
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


def rows(split: Split, choice: RowChoice) -> Rows:
    """Yield the lines that start in `split`. Offsets are bytes of the unpacked file."""
    limit = line_limit(choice.max_size)
    position, number = split.start, 0
    try:
        with unpacked(split.path) as file:
            position = _line_start(file, split.start)
            while (split.end is None or position < split.end) and (raw := file.readline(limit + 1)):
                number += 1
                line = JsonLine(position, number, raw, _rest_of_line(file, raw) if len(raw) > limit else None)
                yield position, line
                position += len(raw)
                if line.rest is not None:
                    # Pieces that the caller has read are not counted: it reads a data set, and needs no offsets.
                    position += sum(map(len, line.rest))
    except DamagedError as damage:
        yield position, Damage(damage.left, str(damage))
    yield position, None


@dataclass(slots=True)
class JsonLine:
    """A line of a file, which is a row unless it is blank."""

    start: int  # in bytes of the unpacked file
    number: int
    raw: bytes  # with its line break; of a line that is too long, the first bytes
    rest: Iterator[bytes] | None = None  # of a line that is too long, to be read before the next line
    fields: Mapping[str, object] | None = None

    @property
    def fragment(self) -> str:
        return f"byte={self.start}"

    @property
    def is_blank(self) -> bool:
        return not self.raw.strip(BLANK)

    def item(self, address: str, choice: RowChoice) -> Page | Failed | None:
        if self.rest is not None:
            kept = Page(address, html=self.raw, content_type=LINE_TYPE) if choice.lenient else Page(address, html=b"")
            return Failed(kept, too_large(choice.max_size), self.rest if choice.lenient else ())
        line = self.raw.strip(BLANK)
        if not line:
            return None
        try:
            self.fields = object_of(line)
            page = page_of(self.fields, choice.max_size, choice.fields, address, lenient=choice.lenient)
        except FieldError as error:
            kept_line = line if choice.lenient or len(line) <= choice.max_size else b""
            url = if_readable(address_of, self.fields or {}, choice.fields) or address
            return Failed(Page(url, html=kept_line, content_type=LINE_TYPE), str(error))
        if page.content_type == LINE_TYPE and isinstance(page.html, bytes) and page.html:  # a line that failed before
            return JsonLine(0, 0, page.html).item(page.url, replace(choice, lenient=False))
        if page.html == b"":  # a failed page that was kept without its body: as an empty page, it would not fail again
            return Failed(page, "its body was not kept")
        return page


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
    return max(at - 1 + sum(map(len, _rest_of_line(file))), at)


def _rest_of_line(file: IO[bytes], line: bytes = b"") -> Iterator[bytes]:
    """Yield what follows of the line that starts with `line`."""
    while not line.endswith(b"\n") and (line := file.readline(_PIECE)):
        yield line


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
