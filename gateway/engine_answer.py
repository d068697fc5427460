"""Defines requests that the gateway sends to the engine on its own, and the engine's answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import msgspec


class EngineAnswer(NamedTuple):
    """A complete answer of the engine."""

    status: int
    headers: Mapping[str, str]  # except headers of the connection
    body: bytes

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


# Sends a request for a client, with the headers that the client sent, and returns the whole answer, whatever its
# status: the method, the path with the query string, and a body (bytes, or a value to be sent as JSON).
Send = Callable[[str, str, bytes | dict[str, Any] | list[Any] | None], Awaitable[EngineAnswer]]
