"""Sends an answer piece by piece."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from opensearch_winnow.foundation.errors import WinnowError

LOG = logging.getLogger("opensearch_winnow.web")


class PiecesResponse(Response):
    """An answer whose first piece is ready, and whose other pieces are made while it is sent.

    If a piece fails, the answer is broken off: without a last chunk, clients see that it is incomplete.
    """

    def __init__(self, first: bytes, others: AsyncIterator[bytes], *, media_type: str) -> None:
        super().__init__(media_type=media_type)
        del self.headers["content-length"]
        self._first = first
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        try:
            async for piece in self._others:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except (HTTPException, WinnowError) as error:  # the client has gone, or the server stops, or the store fails
            LOG.info("broke off an answer to %s: %s", scope["path"], error)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})
