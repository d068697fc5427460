"""Reads the form or JSON object sent with a request."""

from __future__ import annotations

import msgspec
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from opensearch_winnow.foundation.errors import WinnowError

MAX_BODY_BYTES = 16_000_000  # of a pasted text or an uploaded file, also once unpacked
MAX_FIELDS = 20


class FormError(WinnowError):
    """A form or JSON object that cannot be read or used; `field` names the field at fault, if there is one."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


async def read_form(request: Request) -> dict[str, str | bytes]:
    """Return the fields by name: text, or for a file its bytes, with its name as `NAME.filename`.

    A JSON body is an object whose values are strings. A body that is too long ends as if the client had disconnected.
    """
    try:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json":
            return {**_object_of_strings(await request.body())}
        async with request.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=2**31) as sent:
            fields: dict[str, str | bytes] = {}
            for name, value in sent.items():
                if isinstance(value, UploadFile):
                    fields |= {name: await value.read(), f"{name}.filename": value.filename or ""}
                else:
                    fields[name] = value
            return fields
    except ClientDisconnect as error:
        raise HTTPException(413) from error
    except (HTTPException, msgspec.DecodeError) as error:
        raise FormError("The form or JSON that was sent cannot be read.") from error


def _object_of_strings(body: bytes) -> dict[str, str]:
    # Each member has four quotation marks that are not escaped; at least two if its texts end in a backslash. Counted
    # before decoding, because a decoder would make objects of any number of members.
    if body.count(b'"') - body.count(b'\\"') > 4 * MAX_FIELDS:
        raise FormError(f"The JSON that was sent has more than {MAX_FIELDS} members.")
    return msgspec.json.decode(body, type=dict[str, str])
