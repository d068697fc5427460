"""Decides whether and when a failed request is sent again. Has no clock and no network.

Some requests may be repeated even if the engine has executed them already: reads, and writes that leave the same state
behind. Callers accept that a repeated request finds the effect of the first: an index that exists, or is gone.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from socket import gaierror

from opensearchpy.exceptions import (
    ConnectionError,  # noqa: A004
    ConnectionTimeout,
    OpenSearchException,
    SerializationError,
    TransportError,
)

from opensearch_winnow.stores.opensearch.requests.bulk_errors import Verdict, verdict_on
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits, pause_before
from opensearch_winnow.stores.opensearch.requests.errors import Tries, causes, is_refusal_of_tls, note_tries

LIMITS = BulkLimits()
# The last part of paths whose POST requests only read.
READS = frozenset(("_search", "_msearch", "_count", "_mget", "_termvectors", "_mtermvectors", "_search_shards"))
# … and of others that may be repeated. A point in time without a reader expires, and `Reindexer` waits for every copy.
REPEATABLE_POSTS = READS | {"_refresh", "point_in_time", "_pit", "_aliases", "_reindex", "_cancel"}
# DELETE requests for things that expire by themselves: not worth waiting for.
EXPIRING = ("/_search/point_in_time", "/_pit", "/_search/scroll")


@dataclass(frozen=True, slots=True)
class Patience:
    """The patience with a request: it is repeated until `seconds` have passed and it was sent `tries` times."""

    seconds: float
    tries: int = 1
    after_timeouts: bool = False  # whether a request that timed out is repeated, too


QUICK = Patience(2.0)  # a user is waiting; a slow engine does not become faster by a second request
# For long unattended runs. An answer may take a minute, so the time alone would allow only two tries.
PATIENT = Patience(LIMITS.give_up_after, tries=5, after_timeouts=True)
# Before the first answer: the address may be mistyped, and the user is still there.
FIRST_CONTACT = Patience(10.0, tries=3, after_timeouts=True)


class Attempts:
    """The attempts to get one request answered by an engine of `nodes` nodes, which may have `answered` others."""

    def __init__(self, method: str, path: str, patience: Patience, *, nodes: int, answered: bool, now: float) -> None:
        self._request = method, path
        self._patience = patience
        self._nodes = nodes
        self._answered = answered
        self._start = now
        self._tries = 0
        self._recent: deque[OpenSearchException] = deque(maxlen=max(nodes, 1))

    def pause_after(self, error: OpenSearchException, now: float) -> float:
        """Return the seconds to wait before the next attempt. Without one, raises the error that tells most."""
        self._tries += 1
        self._recent.append(error)
        self._answered = self._answered or is_answer(error)
        if not self._may_be_repeated(error):
            raise self._noted(error, now)
        if is_unreachable(error) and self._tries < max(self._nodes, 2):
            return 0.0  # the next node may be there
        if not self._answered and all(map(is_unreachable, self._recent)):
            raise self._noted(error, now)
        patience = self._patience
        if not self._answered and patience.seconds > FIRST_CONTACT.seconds:
            patience = FIRST_CONTACT
        if now - self._start >= patience.seconds and self._tries >= patience.tries:
            # An answer tells more than a connection that another node refuses.
            raise self._noted(max(reversed(self._recent), key=is_answer), now)
        return pause_before(self._tries + 1, LIMITS, random.random)

    def _may_be_repeated(self, error: OpenSearchException) -> bool:
        if is_unreachable(error):
            return True  # nothing was sent
        if not is_repeatable(*self._request):
            return False
        match error:
            case ConnectionTimeout():
                return self._patience.after_timeouts
            case ConnectionError():
                return not is_refusal_of_tls(error)
            case TransportError() if is_half(error):
                return True
            case TransportError():
                about = error.info.get("error") if isinstance(error.info, dict) else None
                status = error.status_code if isinstance(error.status_code, int) else 0
                return verdict_on(status, about if isinstance(about, dict) else {}) is Verdict.RETRY
            case SerializationError():
                return len(error.args) > 1  # half of an answer in JSON; the others are in another format
        return False

    def _noted(self, error: OpenSearchException, now: float) -> OpenSearchException:
        return note_tries(error, Tries(self._tries, now - self._start, self._nodes, self._answered))


def is_repeatable(method: str, path: str) -> bool:
    """Return whether a request may be executed twice: one that reads, or that leaves the same state behind."""
    if method == "POST":
        return path.rpartition("/")[2] in REPEATABLE_POSTS
    return not (method == "DELETE" and path.startswith(EXPIRING))


def is_read(method: str, path: str) -> bool:
    """Return whether the answer of a request is complete only if all shards have contributed to it."""
    return method == "GET" or (method == "POST" and path.rpartition("/")[2] in READS | {"_refresh", "point_in_time"})


def is_unreachable(error: OpenSearchException) -> bool:
    """Return whether nothing listens at the address, so that the request was not sent."""
    return isinstance(error, ConnectionError) and any(
        isinstance(cause, ConnectionRefusedError | gaierror | UnicodeError) for cause in causes(error)
    )


def is_half(error: TransportError) -> bool:
    """Return whether an error is the first part of an engine's answer, so that nothing is known but its status."""
    return error.info is None and str(error.error).startswith("{")


def is_answer(error: OpenSearchException) -> bool:
    """Return whether an error is the answer of an engine."""
    return isinstance(error, TransportError) and isinstance(error.status_code, int) and isinstance(error.info, dict)
