"""Repeats requests of asynchronous clients; see transport.py. Importing it needs aiohttp."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from opensearchpy import AsyncHttpConnection, AsyncOpenSearch, AsyncTransport
from opensearchpy.exceptions import SerializationError, TransportError

from opensearch_winnow.stores.opensearch.requests.retries import QUICK, Attempts, is_answer
from opensearch_winnow.stores.opensearch.requests.transport import checked_answer

__all__ = ["AsyncHttpConnection", "AsyncOpenSearch", "AsyncRetryingTransport"]


class AsyncRetryingTransport(AsyncTransport):
    """Does what `RetryingTransport` does, for asynchronous clients."""

    patience = QUICK
    answered = False

    async def perform_request(
        self, method: str, url: str, params: Mapping[str, Any] | None = None, *rest: Any, **options: Any
    ) -> Any:
        attempts = Attempts(
            method, url, self.patience, nodes=len(self.hosts), answered=self.answered, now=time.monotonic()
        )
        while True:
            try:
                answer = await super().perform_request(method, url, dict(params or {}), *rest, **options)
                checked = checked_answer(method, url, answer)
            except (TransportError, SerializationError) as error:
                self.answered = self.answered or is_answer(error)
                pause = attempts.pause_after(error, time.monotonic())
            else:
                self.answered = True
                return checked
            await asyncio.sleep(pause)

    async def close(self) -> None:
        await super().close()
        connections: list[Any] = self.seed_connections  # also of nodes that are avoided for now
        for connection in connections:
            await connection.close()
