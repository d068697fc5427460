"""What goes wrong between us and a cluster, in one sentence that says what to do."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from socket import gaierror
from typing import Any
from urllib.parse import urlsplit

from opensearchpy.exceptions import (
    ConnectionError,  # noqa: A004 (its own, and not Python's)
    ConnectionTimeout,
    ImproperlyConfigured,
    OpenSearchException,
    TransportError,
)

from opensearch_winnow.stores.opensearch.refusals import reason_of, short
from opensearch_winnow.stores.store import StoreError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
CREDENTIALS = (
    "WINNOW_USER and WINNOW_PASSWORD, WINNOW_API_KEY or WINNOW_AWS_REGION, or what is before the @ in the address"
)
CERTIFICATE = "WINNOW_CLIENT_CERT and WINNOW_CLIENT_KEY"
CLOSED = (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
UNAVAILABLE = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)


@contextmanager
def told(name: str, doing: str = "used") -> Iterator[None]:
    """Around requests, awaited ones too: what opensearch-py raises becomes a StoreError. `doing`: read, written, …"""
    try:
        yield
    except (OpenSearchException, ImproperlyConfigured) as error:
        raise StoreError(f"{name} cannot be {doing}: {_reason(name, error)}") from error


def refused(name: str, answer: Mapping[str, Any], doing: str = "used") -> StoreError:
    """Of an answer with an error in it, as those of one search among several (`_msearch`)."""
    return StoreError(f"{name} cannot be {doing}: {reason_of(answer['error'], answer.get('status'))}")


def causes(error: ConnectionError) -> list[BaseException]:
    """From what the operating system said up to what opensearch-py caught, by either of its HTTP clients."""
    found: list[BaseException] = []
    cause = error.info
    while isinstance(cause, BaseException):
        found.insert(0, cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _reason(name: str, error: Exception) -> str:
    match error:
        case ConnectionTimeout():
            return "no answer in time; try again when the cluster is less busy, or set WINNOW_TIMEOUT to more seconds"
        case ConnectionError():
            return _no_connection(name, error)
        case TransportError():
            return _bad_answer(error)
        case ImproperlyConfigured():
            return f"opensearch-py does not take its options: {short(str(error))}"
    return "what answers there is no OpenSearch; look at the address"  # it could not be parsed


def _no_connection(name: str, error: ConnectionError) -> str:
    address = urlsplit(name)
    for cause in causes(error):
        match cause:
            case ssl.SSLError() if not isinstance(cause, CLOSED):
                return _no_trust(cause)
            case gaierror() | UnicodeError():
                return "there is no host of this name; look at the address"
            case ConnectionRefusedError() if address.hostname in LOOPBACK:
                return "nothing listens there; is an engine running? `winnow engine start` starts one"
            case ConnectionRefusedError():
                return "nothing listens there; look at host and port, and whether the cluster is running"
            case TimeoutError():
                return "no connection in time; look at host and port, and whether a firewall is between"
            case _ if isinstance(cause, CLOSED):
                wants = (
                    f"a certificate from us, set {CERTIFICATE}" if address.scheme == "https" else "TLS, use https://"
                )
                return f"it has closed the connection without an answer; if it wants {wants}"
    return f"no connection: {short(str(error.error))}"


def _no_trust(error: ssl.SSLError) -> str:
    what = error.reason or ""
    if isinstance(error, ssl.SSLCertVerificationError):
        if "mismatch" in error.verify_message:
            return f"its certificate is for another host ({error.verify_message.rstrip('.')}); use the name that it has"
        return (
            f"its certificate is not trusted ({error.verify_message}); name a file with the authority that signed it in"
            " WINNOW_CA_CERTS"
        )
    if "ALERT" in what and ("CERTIFICATE" in what or "HANDSHAKE" in what):
        return f"it wants a certificate from us, or another one; set {CERTIFICATE}"
    if what in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        return "it does not speak TLS there; use http://, or another port"
    return f"no TLS connection ({what.lower().replace('_', ' ') or short(str(error))}); look at host and port"


def _bad_answer(error: TransportError) -> str:
    if len(error.args) < 3 or not isinstance(error.status_code, int):
        return short(str(error.error))
    status, answer = error.status_code, error.info
    if status == HTTPStatus.UNAUTHORIZED:
        return f"it wants credentials, or other ones; look at {CREDENTIALS}"
    if isinstance(answer, dict) and "error" in answer:
        return reason_of(answer["error"], status)
    said = (answer.get("message") or answer.get("Message") if isinstance(answer, dict) else error.error) or ""
    if "plain HTTP request was sent to HTTPS port" in said:
        return "it wants TLS; use https://"
    if status == HTTPStatus.FORBIDDEN:
        return f"this is not allowed{said and f' ({short(said)})'}; look at {CREDENTIALS}"
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return "a request is larger than it takes (http.max_content_length); use smaller ones"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return reason_of({}, status)
    if status in UNAVAILABLE:
        return f"it is not available now (status {status}); try again later"
    return f"what answers there is perhaps no OpenSearch (status {status}); look at the address"
