"""What a form, or a program, has sent."""

from __future__ import annotations

import msgspec
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from opensearch_winnow.foundation.errors import WinnowError

FIELDS = 20


class FormError(WinnowError):
    """Something was sent that cannot be used."""


async def form_of(request: Request) -> dict[str, str | bytes]:
    """Texts by their names; of a file its bytes, and its name as `NAME.filename`. JSON is an object of texts."""
    try:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json":
            return {**msgspec.json.decode(await request.body(), type=dict[str, str])}
        async with request.form(max_files=1, max_fields=FIELDS, max_part_size=2**31) as sent:
            found: dict[str, str | bytes] = {}
            for name, value in sent.items():
                if isinstance(value, UploadFile):
                    found |= {name: await value.read(), f"{name}.filename": value.filename or ""}
                else:
                    found[name] = value
            return found
    except (HTTPException, msgspec.DecodeError, ClientDisconnect) as error:
        raise FormError("what was sent is no form that can be read, or is too long") from error
