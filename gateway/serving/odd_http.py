"""Refuses requests in forms of HTTP that the gateway does not speak, as RFC 9110 and RFC 9112 have it."""

from __future__ import annotations

from aiohttp import HttpVersion, HttpVersion10, HttpVersion11, web

from opensearch_winnow.gateway.engine_connection import MAX_HEADER_BYTES
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.gateway.headers import changed_header

NOT_IMPLEMENTED = ("CONNECT", "TRACE")  # a tunnel to anywhere, and an echo of the request


class OddHttpError(GatewayError):
    """A request after which the connection is closed: the bytes after it may not be a request."""


def check_form(request: web.BaseRequest) -> None:
    """Raise an OddHttpError if a request has a form that the gateway cannot pass on as it is."""
    version = request._version  # not `request.version`, which would keep it for the answer
    if version not in (HttpVersion10, HttpVersion11):
        request._version = HttpVersion11
        raise _error(505, other_version(version))
    if request.method in NOT_IMPLEMENTED:
        if request.method == "CONNECT":
            request.content.feed_eof()  # aiohttp would wait for the bytes of a tunnel
        raise _error(501, f"the gateway has no {request.method}")
    if not request.raw_path.startswith("/"):  # it would become a part of the engine's address
        raise _error(400, "the path of a request starts with /")
    if request.headers.get("transfer-encoding", "chunked").lower() != "chunked":
        raise _error(501, "the gateway knows no transfer coding but chunked")
    if "transfer-encoding" in request.headers and version == HttpVersion10:
        raise _error(400, "HTTP/1.0 has no Transfer-Encoding")
    if sum(len(name) + len(value) for name, value in request.raw_headers) > MAX_HEADER_BYTES:
        raise _error(400, f"the headers of a request are at most {MAX_HEADER_BYTES >> 10} KB together")
    if (name := changed_header(request.raw_headers)) is not None:
        raise _error(400, f"the header {name} has bytes that are not UTF-8: write it with ASCII characters")


def other_version(version: HttpVersion) -> str:
    """Return the sentence for a client that speaks a version which the gateway does not."""
    return f"the gateway speaks HTTP/1.0 and HTTP/1.1, not HTTP/{version.major}.{version.minor}"


def _error(status: int, reason: str) -> OddHttpError:
    return OddHttpError(status, "illegal_argument_exception", reason)
