"""Turns exceptions of opensearch-py into a StoreError: one sentence with the problem and its solution."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from socket import gaierror
from typing import Any, TypeVar
from urllib.parse import urlsplit

from opensearchpy.exceptions import (
    ConnectionError,  # noqa: A004 (its own, and not Python's)
    ConnectionTimeout,
    ImproperlyConfigured,
    OpenSearchException,
    TransportError,
)

from opensearch_winnow.stores.opensearch.requests.error_reasons import explain_error, shorten
from opensearch_winnow.stores.store import StoreError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
CREDENTIALS = (
    "WINNOW_USER and WINNOW_PASSWORD, WINNOW_API_KEY or WINNOW_AWS_REGION, or the part before the @ in the address"
)
CERTIFICATE = "WINNOW_CLIENT_CERT and WINNOW_CLIENT_KEY"
CLOSED_BY_PEER = (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
UNAVAILABLE = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)

MANY_TRIES_SECONDS = 5.0  # errors of requests that were repeated for longer give this time
TRIES = "_winnow_tries"

AnyError = TypeVar("AnyError", bound=Exception)


@dataclass(frozen=True, slots=True)
class Tries:
    """The facts about a request that was given up."""

    number: int
    seconds: float
    nodes: int = 1  # that the address names
    answered: bool = False  # whether an engine has ever answered there


def note_tries(error: AnyError, tries: Tries) -> AnyError:
    """Attach the `tries` of a request to its `error`, and return it."""
    setattr(error, TRIES, tries)
    return error


@contextmanager
def reporting_engine_errors(name: str, doing: str = "used") -> Iterator[None]:
    """Convert exceptions of opensearch-py in this context into a StoreError: "`name` cannot be `doing`: …"."""
    try:
        yield
    except (OpenSearchException, ImproperlyConfigured) as error:
        tries: Tries = getattr(error, TRIES, Tries(1, 0.0))
        repeated = f" (tried {tries.number:,} times in {tries.seconds:.0f} s)"
        long = tries.number > 1 and tries.seconds >= MANY_TRIES_SECONDS
        raise StoreError(f"{name} cannot be {doing}: {_reason(name, error, tries)}{repeated * long}") from error


def refusal_error(name: str, answer: Mapping[str, Any], doing: str = "used") -> StoreError:
    """Return the StoreError for an answer that contains an error, such as that of one search of an `_msearch`."""
    return StoreError(f"{name} cannot be {doing}: {explain_error(answer['error'], answer.get('status'))}")


def causes(error: ConnectionError) -> list[BaseException]:
    """Return the chain of causes, from the error of the operating system to the one that opensearch-py caught."""
    chain: list[BaseException] = []
    cause = error.info
    while isinstance(cause, BaseException):
        chain.insert(0, cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def is_refusal_of_tls(error: ConnectionError) -> bool:
    """Return whether a TLS connection failed for a reason that stays, such as a certificate."""
    return any(isinstance(cause, ssl.SSLError) and not isinstance(cause, CLOSED_BY_PEER) for cause in causes(error))


def _reason(name: str, error: Exception, tries: Tries) -> str:
    match error:
        case ConnectionTimeout():
            return (
                "no answer in time: the cluster is busy, or nodes are missing; try again later, or raise WINNOW_TIMEOUT"
            )
        case ConnectionError():
            return _no_connection(name, error, tries)
        case TransportError():
            return _bad_answer(error)
        case ImproperlyConfigured():
            return f"opensearch-py does not accept its options: {shorten(str(error))}"
    # The answer could not be parsed.
    if tries.answered:
        return "its answers arrive incomplete; check the network between here and the cluster"
    return "what answers is not OpenSearch; check the address"


def _no_connection(name: str, error: ConnectionError, tries: Tries) -> str:
    address = urlsplit(name)
    local = urlsplit(f"//{address.netloc.partition(',')[0]}").hostname in LOOPBACK
    unreachable = f"none of its {tries.nodes} nodes is reachable" if tries.nodes > 1 else "nothing listens there"
    for cause in causes(error):
        match cause:
            case ssl.SSLError() if not isinstance(cause, CLOSED_BY_PEER):
                return _no_trust(cause)
            case gaierror() | UnicodeError():
                return "there is no host of this name; check the address"
            case ConnectionRefusedError() if tries.answered:
                return f"it answered before, but now {unreachable}; has it stopped?"
            case ConnectionRefusedError() if local:
                return f"{unreachable}; is an engine running? `winnow engine start` starts one"
            case ConnectionRefusedError():
                return f"{unreachable}; check the host and port, and whether the cluster is running"
            case TimeoutError():
                return "no connection in time; check the host and port, and whether a firewall blocks them"
            case _ if isinstance(cause, CLOSED_BY_PEER) and tries.answered:
                return "it closes connections without an answer; check the network and the logs of the cluster"
            case _ if isinstance(cause, CLOSED_BY_PEER):
                need = f"a client certificate, set {CERTIFICATE}" if address.scheme == "https" else "TLS, use https://"
                return f"it closed the connection without an answer; if it requires {need}"
    return f"no connection: {shorten(str(error.error))}"


def _no_trust(error: ssl.SSLError) -> str:
    what = error.reason or ""
    if isinstance(error, ssl.SSLCertVerificationError):
        if "mismatch" in error.verify_message:
            return f"its certificate is for another host ({error.verify_message.rstrip('.')}); use that host's name"
        return (
            f"its certificate is not trusted ({error.verify_message}); set WINNOW_CA_CERTS to a file with the authority"
            " that signed it"
        )
    if "ALERT" in what and ("CERTIFICATE" in what or "HANDSHAKE" in what):
        return f"it requires a client certificate, or another one; set {CERTIFICATE}"
    if what in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        return "it does not speak TLS there; use http://, or another port"
    return f"no TLS connection ({what.lower().replace('_', ' ') or shorten(str(error))}); check the host and port"


def _bad_answer(error: TransportError) -> str:
    if len(error.args) < 3 or not isinstance(error.status_code, int):
        return shorten(str(error.error))
    status, answer = error.status_code, error.info
    if status == HTTPStatus.UNAUTHORIZED:
        return f"it requires credentials, or other ones; check {CREDENTIALS}"
    if isinstance(answer, dict) and "error" in answer:
        return explain_error(answer["error"], status)
    message = (answer.get("message") or answer.get("Message") if isinstance(answer, dict) else error.error) or ""
    if "plain HTTP request was sent to HTTPS port" in message:
        return "it requires TLS; use https://"
    if status == HTTPStatus.FORBIDDEN:
        return f"this is not allowed{message and f' ({shorten(message)})'}; check {CREDENTIALS}"
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return "a request is larger than it accepts (http.max_content_length); use smaller ones"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return explain_error({}, status)
    if status in UNAVAILABLE:
        return f"it is not available now (status {status}); try again later"
    return f"what answers may not be OpenSearch (status {status}); check the address"
