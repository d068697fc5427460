"""Retries requests of asynchronous clients; see transport.py. Importing it needs aiohttp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearchpy import AsyncHttpConnection, AsyncOpenSearch, AsyncTransport
from opensearchpy.exceptions import TransportError

from opensearch_winnow.stores.opensearch.transport import may_be_repeated

__all__ = ["AsyncHttpConnection", "AsyncOpenSearch", "AsyncRetryingTransport"]


class AsyncRetryingTransport(AsyncTransport):
    """Does what `RetryingTransport` does, for asynchronous clients."""

    async def perform_request(
        self, method: str, url: str, params: Mapping[str, Any] | None = None, *rest: Any, **options: Any
    ) -> Any:
        for _ in self.hosts:
            try:
                return await super().perform_request(method, url, dict(params or {}), *rest, **options)
            except TransportError as error:
                if not may_be_repeated(error, method, url):
                    raise
        return await super().perform_request(method, url, params, *rest, **options)

    async def close(self) -> None:
        await super().close()
        connections: list[Any] = self.seed_connections  # also of nodes that are avoided for now
        for connection in connections:
            await connection.close()
