"""Checks the address of a cluster before the gateway starts."""

from __future__ import annotations

from http import HTTPStatus
from socket import gaierror

from opensearchpy.exceptions import ConnectionError, TransportError  # noqa: A004 (its own, and not Python's)

from opensearch_winnow.stores.opensearch.client import Address, connect, engine_of
from opensearch_winnow.stores.opensearch.errors import causes, is_refusal_of_tls
from opensearch_winnow.stores.store import StoreError


def checked_address(text: str) -> tuple[Address, str]:
    """Return an address, and a sentence if nothing answers there at the moment.

    Raises StoreError if it is wrong: there is no such host, what answers is no engine, or its certificate is not
    trusted.
    """
    address = Address.of_cluster(text)
    client = connect(address)
    try:
        engine_of(client, str(address))
    except StoreError as error:
        match error.__cause__:
            case TransportError(status_code=HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN):
                return address, ""  # an engine that wants credentials, which clients will send
            case ConnectionError() as cause if _is_only_down(cause):
                return address, f"{error}. The gateway serves nevertheless: it answers with status 502 until then."
        raise
    finally:
        client.close()
    return address, ""


def _is_only_down(error: ConnectionError) -> bool:
    return not is_refusal_of_tls(error) and not any(isinstance(cause, gaierror) for cause in causes(error))
