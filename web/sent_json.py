"""Reads the JSON that programs send: one object, or several as a list or as JSON lines."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import TypeGuard, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.web.form import MAX_BODY_BYTES, FormError

NDJSON = "application/x-ndjson"
BODY, CONTENT_TYPE, PACKING = "body", "content-type", "packing"  # the fields of a form that holds a JSON body
MAX_BATCH = 10_000  # documents, or pairs, in a request: clients of engines send 500 to 5,000 at a time
# Documents are 5 to 30 times as large as their gzip, and copies of a long one 150 times. Small bodies are
# exempt.
MAX_GZIP_RATIO = 200
MIN_BYTES_FOR_RATIO = 1_000_000
SPACES = re.compile(r"[ \t\r\n]*")

Sent = TypeVar("Sent")
# Only the ends of values are of interest, and Python refuses an int of 5,000 digits.
_scanner = json.JSONDecoder(parse_int=len, parse_float=len, strict=False)


async def read_json(request: Request) -> dict[str, str | bytes]:
    """Return the body of a request as it was sent, perhaps packed, and its type. A body that is too long ends as if
    the client had gone."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        body = await request.body()
    except ClientDisconnect as error:
        raise HTTPException(413) from error
    packing = request.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("gzip", "identity"):
        raise HTTPException(415, "A request may be compressed with gzip only.")
    return {BODY: body, CONTENT_TYPE: kind, PACKING: packing}


def sent_body(form: Mapping[str, str | bytes]) -> bytes:
    """Return the body of a form from `read_json`, unpacked."""
    body = form[BODY]
    assert isinstance(body, bytes)
    return unpacked(body) if form[PACKING] == "gzip" else body


def unpacked(content: bytes) -> bytes:
    """Unpack gzip. Raises HTTPException if its content is too large, and FormError if it is damaged."""
    unpacking = zlib.decompressobj(wbits=31)
    by_ratio = max(MIN_BYTES_FOR_RATIO, MAX_GZIP_RATIO * len(content))
    most = min(MAX_BODY_BYTES, by_ratio)
    try:
        found = unpacking.decompress(content, most + 1)
    except zlib.error:
        raise FormError("The request body is not valid gzip.") from None
    if len(found) > most:
        if by_ratio < MAX_BODY_BYTES:
            raise FormError(f"The request is more than {MAX_GZIP_RATIO} times as large as its gzip: send it unpacked.")
        raise HTTPException(413)
    if not unpacking.eof or unpacking.unused_data:
        raise FormError("The gzip of the request is cut off, or followed by other data.")
    return found


def decoded(content: bytes, type_: type[Sent]) -> Sent:
    """Return JSON as a value of this type. Raises FormError with the error and its location."""
    try:
        return msgspec.json.decode(content, type=type_)
    except msgspec.ValidationError as error:
        raise FormError(f"The JSON that was sent is not as expected: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FormError("The request body is not JSON.") from None


def is_given(value: msgspec.Raw | msgspec.UnsetType) -> TypeGuard[msgspec.Raw]:
    """Return whether a member was sent, other than null."""
    return isinstance(value, msgspec.Raw) and bytes(value).strip() != b"null"


def lines(content: bytes, what: str) -> list[bytes]:
    """Return the JSON lines that are not blank. `what` names them in an error if there are too many."""
    return _bounded((line for line in io.BytesIO(content) if not line.isspace()), what)


def members(array: msgspec.Raw, name: str) -> list[bytes]:
    """Return the members of the JSON array `name` as they were written.

    A decoder would make objects of any number of them.
    """
    try:
        text = bytes(array).decode().strip()
        if not text.startswith("["):
            raise FormError(f"The JSON that was sent is not as expected: Expected `array` - at `$.{name}`")
        return _bounded(_members(text), name)
    except (ValueError, RecursionError):
        raise FormError("The request body is not JSON.") from None


def _members(text: str) -> Iterator[bytes]:
    start = _after_spaces(text, 1)
    while text[start] != "]":
        _, end = _scanner.raw_decode(text, start)
        yield text[start:end].encode()
        start = _after_spaces(text, end)
        if text[start] == ",":
            start = _after_spaces(text, start + 1)


def _after_spaces(text: str, start: int) -> int:
    found = SPACES.match(text, start)
    assert found is not None
    return found.end()


def _bounded(contents: Iterator[bytes], what: str) -> list[bytes]:
    found: list[bytes] = []
    for content in contents:
        check_cancelled()
        if len(found) == MAX_BATCH:
            raise FormError(f"A request has at most {MAX_BATCH:,} {what}: send the others in further requests.")
        found.append(content)
    return found


def check_one_text(text: str | None, html: str | None, of: str = "") -> None:
    """Refuse a text that was sent as both text and HTML, or is larger than a page may be."""
    if text is not None and html is not None:
        raise FormError(f"Send text or html{of}, not both.")
    size = len((text or html or "").encode("utf-8", "surrogatepass"))
    if size > MAX_PAGE_BYTES:
        raise FormError(f"The text{of} has {size:,} bytes: at most {MAX_PAGE_BYTES:,} are allowed.")
