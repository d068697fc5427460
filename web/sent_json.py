"""Reads the JSON that programs send: one object, or several as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from opensearch_winnow.web.form import FormError

NDJSON = "application/x-ndjson"
BODY, CONTENT_TYPE = "body", "content-type"  # the names in a form of what was sent as JSON

Sent = TypeVar("Sent")


async def read_json(request: Request) -> dict[str, str | bytes]:
    """Return the body of a request, unparsed, and its type. A body that is too long ends as if the client had gone."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        return {BODY: await request.body(), CONTENT_TYPE: kind}
    except ClientDisconnect as error:
        raise HTTPException(413) from error


def decoded(content: bytes, type_: type[Sent]) -> Sent:
    """Return JSON as a value of this type. Raises FormError with what is wrong, and where."""
    try:
        return msgspec.json.decode(content, type=type_)
    except msgspec.ValidationError as error:
        raise FormError(f"The JSON that was sent is not as expected: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FormError("What was sent is not JSON.") from None


def decoded_lines(content: bytes, type_: type[Sent]) -> Iterator[Sent | FormError]:
    """Yield the value of each line that is not blank, or what is wrong with it."""
    for line in content.splitlines():
        if line.strip():
            try:
                yield decoded(line, type_)
            except FormError as error:
                yield error
