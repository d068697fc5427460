"""What may be asked again, on another node if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from socket import gaierror
from typing import Any

from opensearchpy import Transport
from opensearchpy.exceptions import ConnectionError, ConnectionTimeout, TransportError  # noqa: A004

from opensearch_winnow.stores.opensearch.errors import UNAVAILABLE, causes

# The last part of the paths that are read by POST.
READING = frozenset(("_search", "_msearch", "_count", "_mget", "_termvectors", "_mtermvectors", "_search_shards"))


def may_be_repeated(error: TransportError, method: str, path: str) -> bool:
    """Whether this request, which failed so, changes nothing that it should not if it is sent once more.

    Not after a timeout: who is slow is not helped by being asked twice.
    """
    if isinstance(error, ConnectionTimeout):
        return False
    reads = method in ("GET", "HEAD") or path.rpartition("/")[2] in READING
    if isinstance(error, ConnectionError):
        return reads or any(isinstance(cause, (ConnectionRefusedError, gaierror)) for cause in causes(error))
    return reads and error.status_code in UNAVAILABLE


class ReadsAgain(Transport):
    """Asks once more for each node there is, where that does no harm; one that failed is left alone for a while."""

    def perform_request(
        self, method: str, url: str, params: Mapping[str, Any] | None = None, *rest: Any, **options: Any
    ) -> Any:
        for _ in self.hosts:
            try:
                # A copy: opensearch-py takes out of it what is for itself.
                return super().perform_request(method, url, dict(params or {}), *rest, **options)
            except TransportError as error:
                if not may_be_repeated(error, method, url):
                    raise
        return super().perform_request(method, url, params, *rest, **options)
