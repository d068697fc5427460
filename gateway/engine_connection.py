"""Sends requests to the nodes of an engine: in turns, and to the next one if a node is unreachable."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from base64 import b64encode
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from typing import Any, Self

import aiohttp
import msgspec
from aiohttp.connector import Connection
from multidict import CIMultiDict
from yarl import URL

from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.errors import GatewayError, too_much_memory
from opensearch_winnow.gateway.headers import RawHeaders, changed_header, gateway_headers, passed_headers
from opensearch_winnow.gateway.limits import Limits
from opensearch_winnow.gateway.memory_budget import Reservation
from opensearch_winnow.gateway.routes import goes_up
from opensearch_winnow.stores.opensearch.requests.client import CONNECT_SECONDS, DEAD_SECONDS, Address
from opensearch_winnow.stores.opensearch.requests.connection_options import environment_options
from opensearch_winnow.stores.store import StoreError

# Idle connections are closed before a load balancer closes them, which most do after a minute: a request that is sent
# at that moment would be lost.
IDLE_SECONDS = 15.0
MAX_HEADER_BYTES = 256 * 1024  # engines send long headers: a Warning for each deprecated option
MAX_ANSWER_HEADERS = 1_000  # and many of them
ADDED_BY_AIOHTTP = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")

# After a request that it cannot decode, such as one with too long a header, an engine answers with one of these, leaves
# the connection open, and answers nothing more on it.
LAST_ANSWERS = (400, 413, 414, 431)

# Memory for each byte of an answer: its pieces, the whole, its decoded parts, and the answer that is made of it.
MEMORY_PER_BYTE = 5

PIECE_BYTES = 256 * 1024  # of a body that are sent at a time

Body = bytes | AsyncIterable[bytes] | None


class _Answer(aiohttp.ClientResponse):
    """An answer whose connection is used again only if the engine will answer on it."""

    async def start(self, connection: Connection) -> Self:
        protocol = connection.protocol
        await super().start(connection)
        if protocol is not None and self.status in LAST_ANSWERS:
            if self.content.is_eof():  # all of it has arrived, and the connection already waits for the next request
                protocol.close()
            else:
                protocol.force_close()
        return self


class EngineConnection:
    """Sends requests to the nodes of an engine. Use it in `async with`.

    A request that was sent is never repeated, because it may have been executed.
    """

    def __init__(self, address: Address, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._turns = asyncio.Semaphore(self._limits.gateway_requests)  # of the gateway's own requests
        options = environment_options(os.environ, credentials=not address.user)
        self.address = address
        self.credentials = _credentials(address, options)  # of the gateway itself; empty if it has none
        self._tls = _tls(options) if address.secure else False
        protocol = "https" if address.secure else "http"
        prefix = f"/{address.prefix}" if address.prefix else ""
        hosts = [(f"[{host}]" if ":" in host else host, port) for host, port in address.nodes]
        self._nodes = [f"{protocol}://{host}:{port}{prefix}" for host, port in hosts]
        self._avoided: dict[str, float] = {}  # unreachable nodes, and the end of their avoidance
        self._next = 0
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._limits.pool, keepalive_timeout=IDLE_SECONDS, ssl=self._tls or True
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),  # a _reindex may take hours
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Answer,
            skip_auto_headers=ADDED_BY_AIOHTTP,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            max_headers=MAX_ANSWER_HEADERS,
        )
        self._session._retry_connection = False  # it would repeat PUT and DELETE on a connection that broke
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._session is not None
        await self._session.close()

    async def open(self, method: str, path: str, headers: CIMultiDict[str], body: Body) -> aiohttp.ClientResponse:
        """Send a request, and return the answer as soon as its headers have arrived, with its content unread.

        Raises GatewayError if no node can be reached, the connection breaks, or the path leads out of the prefix.
        """
        assert self._session is not None
        if self.address.prefix and goes_up(path):  # to another service of the proxy, perhaps with our credentials
            reason = "a path with .. would leave the prefix of the cluster"
            raise GatewayError(400, "illegal_argument_exception", reason)
        failure = GatewayError(502, "no_node_available_exception", "the cluster has no nodes")
        large = body if isinstance(body, bytes) and len(body) > PIECE_BYTES else None
        if large is not None:
            headers = headers.copy()
            headers["content-length"] = str(len(large))
        for node in self._in_turns():
            try:
                return _checked(
                    await self._session.request(
                        method,
                        _url(node, path),
                        headers=headers,
                        data=body if large is None else _in_pieces(large),
                        allow_redirects=False,
                    )
                )
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:  # nothing was sent
                self._avoided[node] = time.monotonic() + DEAD_SECONDS
                failure = _no_connection(self.address, error)
            except (aiohttp.ClientError, OSError) as error:
                raise GatewayError(502, "node_disconnected_exception", _broken(self.address, error)) from error
        raise failure

    async def answer(
        self,
        method: str,
        path: str,
        headers: CIMultiDict[str],
        body: bytes | dict[str, Any] | list[Any] | None,
        memory: Reservation | None = None,
    ) -> EngineAnswer:
        """Send a request, and return the whole answer, without the headers of the connection.

        It is not compressed: no header asks for that. Raises GatewayError if it exceeds `memory` or, without `memory`,
        `max_gateway_answer`.
        """
        if body is not None and not isinstance(body, bytes):
            body = msgspec.json.encode(body)
        if body is not None:
            headers = headers.copy()
            headers.setdefault("content-type", "application/json")
        async with self._turns:
            return await self.whole(await self.open(method, path, headers, body), memory)

    async def whole(
        self, response: aiohttp.ClientResponse, memory: Reservation | None, *, is_limited: bool = True
    ) -> EngineAnswer:
        """Read an answer to its end, and return it without the headers of the connection.

        Without `is_limited`, any size is read: a write was executed, and must not be repeated.
        """
        pieces, size = [], 0
        try:
            async for piece in response.content.iter_any():
                pieces.append(piece)
                size += len(piece)
                is_affordable = (
                    size <= self._limits.max_gateway_answer
                    if memory is None
                    else memory.grow(MEMORY_PER_BYTE * len(piece))
                )
                if is_limited and not is_affordable:
                    response.close()  # and its connection, where the rest would arrive
                    raise too_much_memory("the answer of the engine is too large")
            return EngineAnswer(response.status, passed_headers(response.raw_headers), b"".join(pieces))
        except (aiohttp.ClientError, OSError) as error:
            raise GatewayError(502, "node_disconnected_exception", _broken(self.address, error)) from error
        finally:
            response.release()

    def send_for(self, raw: RawHeaders, memory: Reservation | None = None) -> Send:
        """Return a function that sends the gateway's own requests with the credentials of a client.

        Their answers count as part of `memory`.
        """
        headers = gateway_headers(raw)

        async def send(method: str, path: str, body: bytes | dict[str, Any] | list[Any] | None) -> EngineAnswer:
            return await self.answer(method, path, headers, body, memory)

        return send

    async def send(self, method: str, path: str, body: bytes | dict[str, Any] | list[Any] | None) -> EngineAnswer:
        """Send a request with the credentials of the gateway itself."""
        return await self.answer(method, path, CIMultiDict(self.credentials), body)

    def _in_turns(self) -> Iterator[str]:
        """Yield all nodes, another one first each time. Unreachable nodes come last for a while."""
        start, now = self._next % len(self._nodes), time.monotonic()
        self._next += 1
        nodes = self._nodes[start:] + self._nodes[:start]
        yield from sorted(nodes, key=lambda node: self._avoided.get(node, 0.0) > now)


async def _in_pieces(body: bytes) -> AsyncIterator[bytes]:
    """Yield a body in pieces: as a whole, it would be copied for the time until it is sent."""
    for start in range(0, len(body), PIECE_BYTES):
        yield body[start : start + PIECE_BYTES]


def _credentials(address: Address, options: Mapping[str, Any]) -> dict[str, str]:
    login = (address.user, address.password) if address.user else options.get("http_auth")
    if callable(login):
        raise StoreError("the gateway cannot sign requests for AWS: unset WINNOW_AWS_REGION")
    if login:
        return {"authorization": f"Basic {b64encode(':'.join(login).encode()).decode()}"}
    return dict(options.get("headers", {}))


def _tls(options: Mapping[str, Any]) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=options.get("ca_certs"))
        if "client_cert" in options:
            context.load_cert_chain(options["client_cert"], options.get("client_key"))
    except (ssl.SSLError, OSError) as error:
        raise StoreError(f"the certificates that WINNOW_CA_CERTS or WINNOW_CLIENT_CERT name fail: {error}") from None
    if options.get("verify_certs") is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _url(node: str, path: str) -> URL:
    """Return the address of a request. A # is escaped, or `DELETE /a#b` would delete the index a instead of a#b."""
    return URL(node + path.replace("#", "%23"), encoded=True)


def _checked(answer: aiohttp.ClientResponse) -> aiohttp.ClientResponse:
    """Return an answer whose headers can be passed on as they are."""
    if (name := changed_header(answer.raw_headers)) is None:
        return answer
    answer.close()
    reason = f"the engine has answered, but its header {name} has bytes that are not UTF-8 and cannot be passed on"
    raise GatewayError(502, "gateway_exception", reason)


def _no_connection(address: Address, error: Exception) -> GatewayError:
    to = f"no connection to {'any node of ' if len(address.nodes) > 1 else ''}{address}"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return GatewayError(504, "connect_timeout_exception", f"{to} within {CONNECT_SECONDS:.0f} s")
    cause = getattr(error, "os_error", None)
    reason = getattr(cause, "strerror", None) or str(cause or error)
    if reason.startswith("Connect call failed") and cause is not None and cause.errno:  # asyncio's words for all causes
        reason = os.strerror(cause.errno)
    return GatewayError(502, "connect_exception", f"{to}: {reason}")


def _broken(address: Address, error: Exception) -> str:
    return f"the connection to {address} broke before it answered ({str(error) or type(error).__name__})"
