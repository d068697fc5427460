"""Checks the address of an engine before the gateway starts."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from socket import gaierror

from opensearchpy import OpenSearch
from opensearchpy.exceptions import (
    ConnectionError,  # noqa: A004 (its own, and not Python's)
    NotFoundError,
    OpenSearchException,
    TransportError,
)

from opensearch_winnow.stores.opensearch.requests.client import Address, connect, engine_of
from opensearch_winnow.stores.opensearch.requests.errors import causes, is_refusal_of_tls
from opensearch_winnow.stores.store import StoreError


def checked_address(text: str) -> tuple[Address, str]:
    """Return an address, and a warning if nothing answers there at the moment.

    Raises StoreError if the host is unknown, the server is not an engine, or its certificate is not trusted.
    """
    address = Address.of_engine(text)
    client = connect(address)
    try:
        if address.prefix:
            _check_prefix(client, address)
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


def _check_prefix(client: OpenSearch, address: Address) -> None:
    """Raise StoreError if the path of an address is not a proxy's prefix but an index, for example."""
    try:
        if "version" in client.info():
            return
    except NotFoundError:
        pass
    except OpenSearchException:  # the next request reports the error
        return
    engine = replace(address, prefix="")
    raise StoreError(
        f"{address} cannot be used: no engine answers at the path /{address.prefix}; the address of a cluster has no"
        f" index at its end, as in {engine}"
    )


def _is_only_down(error: ConnectionError) -> bool:
    return not is_refusal_of_tls(error) and not any(isinstance(cause, gaierror) for cause in causes(error))
