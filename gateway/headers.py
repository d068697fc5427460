"""Decides which headers of requests and answers the gateway passes on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from multidict import CIMultiDict

# They are about one connection, and the next one has its own.
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

RawHeaders = Iterable[tuple[bytes, bytes]]


def passed_headers(raw: RawHeaders, without: frozenset[str] = HOP_BY_HOP) -> CIMultiDict[str]:
    """Return headers as they came, in their order, except those of the connection."""
    headers = CIMultiDict((_text(name), _text(value)) for name, value in raw)
    of_connection = {name.strip().lower() for value in headers.getall("connection", ()) for name in value.split(",")}
    for name in (without | of_connection) & {name.lower() for name in headers}:
        headers.popall(name)
    return headers


def own_headers(raw: RawHeaders) -> CIMultiDict[str]:
    """Return headers for a request of the gateway's own on behalf of a client: with its credentials."""
    headers = passed_headers(raw, NOT_SENT | OF_A_BODY)
    headers["accept"] = "application/json"
    return headers


def reader_of(headers: Mapping[str, str]) -> str:
    """Return a short text that differs for users with different credentials, and does not contain them."""
    secret = headers.get("authorization", "")
    return hashlib.blake2b(secret.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest() if secret else ""


def warning(reason: str) -> str:
    """Return the value of a Warning header, as engines send it for deprecations."""
    plain = reason.encode("ascii", "replace").decode()
    printable = "".join(each if each.isprintable() else " " for each in plain)
    escaped = printable.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 winnow "{escaped}"'


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
