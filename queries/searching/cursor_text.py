"""Writes cursors as text, and reads them again."""

from __future__ import annotations

import binascii
import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from opensearch_winnow.foundation.errors import QuestionError

MAX_CURSOR_BYTES = 100_000  # when it is unpacked
CURSOR_EXPIRED = "the cursor has expired: search again"


def packed_cursor(content: Any) -> str:
    """Pack `content`, a JSON value with dates, into a text for URLs."""
    written = json.dumps(content, default=_json_value).encode()
    if len(written) > MAX_CURSOR_BYTES:
        raise QuestionError(
            f"this search is too large for a cursor: it takes {len(written):,} bytes, and only {MAX_CURSOR_BYTES:,} fit"
        )
    return urlsafe_b64encode(zlib.compress(written, 9)).decode().rstrip("=")


def unpacked_cursor(cursor: str) -> Any:
    """Return the content of a cursor. Any other text raises a QuestionError."""
    try:
        return json.loads(zlib.decompressobj().decompress(urlsafe_b64decode(cursor + "=="), MAX_CURSOR_BYTES))
    except (binascii.Error, zlib.error, ValueError, TypeError, AttributeError):
        raise not_a_cursor() from None


def not_a_cursor() -> QuestionError:
    """Return the error for a text that is not a cursor, or was changed."""
    return QuestionError("this is not a cursor: pass the cursor of earlier results unchanged")


def _json_value(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
