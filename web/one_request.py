"""Sends a request to an application without a network."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.types import Message


def one_request(app: Starlette, address: str) -> tuple[int, bytes]:
    """GET an address of the application and return the status and the body."""
    return asyncio.run(_get(app, address))


async def _get(app: Starlette, address: str) -> tuple[int, bytes]:
    parts = urlsplit(address if address.startswith("/") else f"/{address}")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost")],
    }
    status = 500
    pieces: list[bytes] = []
    unread: list[Message] = [{"type": "http.request", "body": b""}]

    async def receive() -> Message:
        return unread.pop() if unread else await asyncio.Future()  # the client waits for the answer

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        pieces.append(message.get("body", b""))

    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
    return status, b"".join(pieces)
