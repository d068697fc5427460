"""Reads the JSON that programs send: one object, or several as JSON lines."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.web.form import FormError

NDJSON = "application/x-ndjson"
BODY, CONTENT_TYPE = "body", "content-type"  # the names in a form of what was sent as JSON

Sent = TypeVar("Sent")


async def read_json(request: Request, max_bytes: int) -> dict[str, str | bytes]:
    """Return the body of a request, unparsed, and its type. A body that is too long ends as if the client had gone.

    It may be gzip, with at most `max_bytes` in it.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        body = await request.body()
    except ClientDisconnect as error:
        raise HTTPException(413) from error
    packing = request.headers.get("content-encoding", "identity").strip().lower()
    if packing == "gzip":
        body = await run_in_threadpool(unpacked, body, max_bytes)
    elif packing != "identity":
        raise HTTPException(415, "What is sent may be compressed with gzip, and in no other way.")
    return {BODY: body, CONTENT_TYPE: kind}


def unpacked(content: bytes, max_bytes: int) -> bytes:
    """Unpack gzip. Raises HTTPException if there is more in it than may be sent, and FormError if it is damaged."""
    unpacking = zlib.decompressobj(wbits=31)
    try:
        found = unpacking.decompress(content, max_bytes + 1)
    except zlib.error:
        raise FormError("What was sent is not gzip, or damaged.") from None
    if len(found) > max_bytes:
        raise HTTPException(413)
    if not unpacking.eof or unpacking.unused_data:
        raise FormError("What was sent is gzip that is cut off, or followed by something else.")
    return found


def decoded(content: bytes, type_: type[Sent]) -> Sent:
    """Return JSON as a value of this type. Raises FormError with what is wrong, and where."""
    try:
        return msgspec.json.decode(content, type=type_)
    except msgspec.ValidationError as error:
        raise FormError(f"The JSON that was sent is not as expected: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FormError("What was sent is not JSON.") from None


def decoded_each(contents: Iterable[msgspec.Raw | bytes], type_: type[Sent]) -> Iterator[Sent | FormError]:
    """Yield the value of each part of a batch, or what is wrong with it."""
    for content in contents:
        try:
            yield decoded(bytes(content), type_)
        except FormError as error:
            yield error


def lines(content: bytes) -> list[bytes]:
    """Return the JSON lines that are not blank."""
    return [line for line in content.split(b"\n") if line.strip()]


def check_one_text(text: str | None, html: str | None, of: str = "") -> None:
    """Refuse a text as text and as HTML, and one that is larger than a page may be."""
    if text is not None and html is not None:
        raise FormError(f"Send text or html{of}, not both.")
    size = len((text or html or "").encode("utf-8", "surrogatepass"))
    if size > MAX_PAGE_BYTES:
        raise FormError(f"The text{of} has {size:,} bytes: at most {MAX_PAGE_BYTES:,} are taken.")
