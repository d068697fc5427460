"""Retries requests that are safe to repeat: on another node if there is one, or later."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from socket import gaierror
from typing import Any

from opensearchpy import Transport
from opensearchpy.exceptions import (
    ConnectionError,  # noqa: A004
    ConnectionTimeout,
    SerializationError,
    TransportError,
)

from opensearch_winnow.stores.opensearch.bulk_errors import RETRY_STATUSES
from opensearch_winnow.stores.opensearch.bulk_operation import Limits
from opensearch_winnow.stores.opensearch.errors import UNAVAILABLE, causes

# The last part of paths whose POST requests only read.
READ_ENDPOINTS = frozenset(
    ("_search", "_msearch", "_count", "_mget", "_termvectors", "_mtermvectors", "_search_shards")
)


def may_be_repeated(error: TransportError, method: str, path: str) -> bool:
    """Return whether a request that failed with `error` is safe to send again.

    A request that timed out is not repeated: a slow engine does not become faster by a second request.
    """
    if isinstance(error, ConnectionTimeout):
        return False
    reads = method in ("GET", "HEAD") or path.rpartition("/")[2] in READ_ENDPOINTS
    if isinstance(error, ConnectionError):
        return reads or any(isinstance(cause, (ConnectionRefusedError, gaierror)) for cause in causes(error))
    return reads and error.status_code in UNAVAILABLE


class RetryingTransport(Transport):
    """Sends a request once more for each node if repeating it is safe. A node that failed is avoided for a while."""

    def perform_request(
        self, method: str, url: str, params: Mapping[str, Any] | None = None, *rest: Any, **options: Any
    ) -> Any:
        for _ in self.hosts:
            try:
                # A copy, because opensearch-py removes its own parameters from it.
                return super().perform_request(method, url, dict(params or {}), *rest, **options)
            except TransportError as error:
                if not may_be_repeated(error, method, url):
                    raise
        return super().perform_request(method, url, params, *rest, **options)


class PatientTransport(RetryingTransport):
    """Repeats a request for two minutes while the engine is busy or gives no answer: for long runs that nobody watches.

    The pause before each further try is random, and its maximum doubles. All requests of such a run may be repeated:
    documents are written with bulk requests only, which have retries of their own.
    """

    limits = Limits()

    def perform_request(
        self, method: str, url: str, params: Mapping[str, Any] | None = None, *rest: Any, **options: Any
    ) -> Any:
        end = time.monotonic() + self.limits.give_up_after
        longest = self.limits.retry_pause
        while True:
            try:
                # A copy, because opensearch-py removes its own parameters from it.
                return super().perform_request(method, url, dict(params or {}), *rest, **options)
            except (TransportError, SerializationError) as error:  # the latter: half of an answer
                status = None if isinstance(error, ConnectionError | SerializationError) else error.status_code
                if status not in (None, *RETRY_STATUSES) or time.monotonic() > end:
                    raise
            time.sleep(random.random() * longest)
            longest = min(longest * 2, self.limits.max_retry_pause)
