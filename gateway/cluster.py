"""Sends requests to the nodes of a cluster: in turns, and to the next one if a node cannot be connected to."""

from __future__ import annotations

import os
import ssl
import time
from base64 import b64encode
from collections.abc import AsyncIterable, Iterator, Mapping
from typing import Any, Self

import aiohttp
import msgspec
from aiohttp.connector import Connection
from multidict import CIMultiDict
from yarl import URL

from opensearch_winnow.gateway.engine_answer import EngineAnswer, Send
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.gateway.headers import RawHeaders, own_headers, passed_headers
from opensearch_winnow.stores.opensearch.client import CONNECT_SECONDS, DEAD_SECONDS, Address
from opensearch_winnow.stores.opensearch.connection_options import environment_options
from opensearch_winnow.stores.store import StoreError

# Idle connections are closed before a load balancer closes them, which most do after a minute: a request that is sent
# at that moment would be lost.
IDLE_SECONDS = 15.0
MAX_HEADER_BYTES = 256 * 1024  # engines send long headers: a Warning for each deprecated option
ADDED_BY_AIOHTTP = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")

# After a request that it cannot decode, such as one with too long a header, an engine answers with one of these, leaves
# the connection open, and answers nothing more on it.
LAST_ANSWERS = (400, 413, 414, 431)

Body = bytes | AsyncIterable[bytes] | None


class _Answer(aiohttp.ClientResponse):
    """An answer whose connection is used again only if the engine will answer on it."""

    async def start(self, connection: Connection) -> Self:
        protocol = connection.protocol
        await super().start(connection)
        if protocol is not None and self.status in LAST_ANSWERS:
            if self.content.is_eof():  # all of it has arrived, and the connection waits for the next request already
                protocol.close()
            else:
                protocol.force_close()
        return self


class Cluster:
    """Sends requests to a cluster. Use it in `async with`.

    A request that was sent is never repeated: nobody knows whether it was executed.
    """

    def __init__(self, address: Address) -> None:
        options = environment_options(os.environ, credentials=not address.user)
        self.address = address
        self.credentials = _credentials(address, options)  # of the gateway itself; empty if it has none
        self._tls = _tls(options) if address.secure else False
        protocol = "https" if address.secure else "http"
        prefix = f"/{address.prefix}" if address.prefix else ""
        hosts = [(f"[{host}]" if ":" in host else host, port) for host, port in address.nodes]
        self._nodes = [f"{protocol}://{host}:{port}{prefix}" for host, port in hosts]
        self._avoided: dict[str, float] = {}  # nodes that could not be connected to, and until when
        self._next = 0
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS, ssl=self._tls or True),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),  # a _reindex may take hours
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Answer,
            skip_auto_headers=ADDED_BY_AIOHTTP,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        self._session._retry_connection = False  # it would repeat PUT and DELETE on a connection that broke
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._session is not None
        await self._session.close()

    async def open(self, method: str, path: str, headers: CIMultiDict[str], body: Body) -> aiohttp.ClientResponse:
        """Send a request, and return the answer as soon as its headers are there; its content is still to be read.

        Raises GatewayError if no node can be reached, or the connection breaks.
        """
        assert self._session is not None
        failure = GatewayError(502, "no_node_available_exception", "the cluster has no nodes")
        for node in self._in_turns():
            try:
                return await self._session.request(
                    method, _url(node, path), headers=headers, data=body, allow_redirects=False
                )
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:  # nothing was sent
                self._avoided[node] = time.monotonic() + DEAD_SECONDS
                failure = _no_connection(self.address, error)
            except (aiohttp.ClientError, OSError) as error:
                raise GatewayError(502, "node_disconnected_exception", _broken(self.address, error)) from error
        raise failure

    async def answer(
        self, method: str, path: str, headers: CIMultiDict[str], body: bytes | dict[str, Any] | list[Any] | None
    ) -> EngineAnswer:
        """Send a request, and return the whole answer, without the headers of the connection.

        It is not compressed: no header asks for that.
        """
        if body is not None and not isinstance(body, bytes):
            body = msgspec.json.encode(body)
        if body is not None:
            headers = headers.copy()
            headers.setdefault("content-type", "application/json")
        response = await self.open(method, path, headers, body)
        try:
            return EngineAnswer(response.status, passed_headers(response.raw_headers), await response.read())
        except (aiohttp.ClientError, OSError) as error:
            raise GatewayError(502, "node_disconnected_exception", _broken(self.address, error)) from error
        finally:
            response.release()

    def send_for(self, raw: RawHeaders) -> Send:
        """Return a function that sends requests of the gateway's own with the credentials of a client."""
        headers = own_headers(raw)

        async def send(method: str, path: str, body: bytes | dict[str, Any] | list[Any] | None) -> EngineAnswer:
            return await self.answer(method, path, headers, body)

        return send

    async def send(self, method: str, path: str, body: bytes | dict[str, Any] | list[Any] | None) -> EngineAnswer:
        """Send a request with the credentials of the gateway itself."""
        return await self.answer(method, path, CIMultiDict(self.credentials), body)

    def _in_turns(self) -> Iterator[str]:
        """Yield all nodes, another one first each time. Those that could not be connected to come last for a while."""
        start, now = self._next % len(self._nodes), time.monotonic()
        self._next += 1
        nodes = self._nodes[start:] + self._nodes[:start]
        yield from sorted(nodes, key=lambda node: self._avoided.get(node, 0.0) > now)


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
    """Return the address of a request. What follows a # would not be sent, and `DELETE /a#b` is about the index a#b."""
    return URL(node + path.replace("#", "%23"), encoded=True)


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
