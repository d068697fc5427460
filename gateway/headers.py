"""Decides which headers of requests and answers the gateway passes on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from multidict import CIMultiDict

# Headers of one connection; the next connection has its own.
HOP_BY_HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
# The gateway has answered `expect` itself, and the engine has another name and port.
NOT_SENT = HOP_BY_HOP | {"expect", "host"}
OF_A_BODY = frozenset(["accept", "accept-encoding", "content-encoding", "content-length", "content-type"])
# Headers that name a request or a program, and never authenticate a client. All others may identify one: proxies that
# authenticate use headers of their own.
OF_NO_CLIENT = frozenset(
    [
        "accept-charset",
        "accept-language",
        "baggage",
        "cache-control",
        "date",
        "elastic-apm-traceparent",
        "pragma",
        "traceparent",
        "tracestate",
        "user-agent",
        "x-elastic-client-meta",
        "x-opaque-id",
        "x-request-id",
    ]
)

CONTROL = re.compile(rb"[\0-\x08\x0a-\x1f\x7f]")

RawHeaders = Iterable[tuple[bytes, bytes]]


def passed_headers(raw: RawHeaders, without: frozenset[str] = HOP_BY_HOP) -> CIMultiDict[str]:
    """Return headers unchanged and in their order, except headers of the connection."""
    headers = CIMultiDict((_text(name), _text(value)) for name, value in raw)
    listed = (name for value in headers.getall("connection", ()) for name in value.split(","))
    of_connection = {name.strip(" \t").lower() for name in listed}  # other white space is a part of a name
    for name in (without | of_connection) & {name.lower() for name in headers}:
        headers.popall(name)
    return headers


def changed_header(raw: RawHeaders) -> str | None:
    """Return the name of a header whose bytes would not arrive as they are; None if all would.

    aiohttp writes UTF-8 only, without control characters, and leaves out all other bytes.
    """
    for name, value in raw:
        try:
            value.decode()
        except UnicodeDecodeError:
            return _text(name)
        if CONTROL.search(value):
            return _text(name)
    return None


def gateway_headers(raw: RawHeaders) -> CIMultiDict[str]:
    """Return headers for the gateway's own request on behalf of a client, with the client's credentials."""
    headers = passed_headers(raw, NOT_SENT | OF_A_BODY)
    headers["accept"] = "application/json"
    return headers


def client_of(raw: RawHeaders) -> bytes:
    """Return a digest of the headers that may identify a client: all passed headers except a few."""
    sent = passed_headers(raw, NOT_SENT | OF_A_BODY | OF_NO_CLIENT)
    names = sorted((name.lower(), value) for name, value in sent.items())
    return hashlib.blake2b(repr(names).encode(), digest_size=16).digest()


def warning(reason: str) -> str:
    """Return the value of a Warning header, as engines send it for deprecations."""
    plain = reason.encode("ascii", "replace").decode()
    printable = "".join(each if each.isprintable() else " " for each in plain)
    escaped = printable.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 winnow "{escaped}"'


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
