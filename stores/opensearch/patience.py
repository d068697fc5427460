"""Repeats requests that an engine does not answer for a while, during long runs that nobody watches."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import count
from typing import TypeVar

from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import TransportError

from opensearch_winnow.stores.opensearch.bulk_errors import RETRY_STATUSES
from opensearch_winnow.stores.opensearch.bulk_operation import Limits
from opensearch_winnow.stores.store import StoreError

Answer = TypeVar("Answer")


def patiently(request: Callable[[], Answer], limits: Limits = Limits()) -> Answer:
    """Return the answer to a request that is safe to repeat: again and again, until the engine answers or time is up.

    The pause before each further try is random, and its maximum doubles.
    """
    end = time.monotonic() + limits.give_up_after
    for tries in count():
        try:
            return request()
        except (StoreError, TransportError) as error:
            if not _is_temporary(error) or time.monotonic() > end:
                raise
            time.sleep(random.random() * min(limits.max_retry_pause, limits.retry_pause * 2 ** min(tries, 30)))
    raise AssertionError  # never: the loop has no end


def _is_temporary(error: BaseException | None) -> bool:
    cause = error.__cause__ if isinstance(error, StoreError) else error
    return isinstance(cause, NoConnection) or (
        isinstance(cause, TransportError) and cause.status_code in RETRY_STATUSES
    )
