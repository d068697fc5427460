"""Refuses answers in which shards are missing: a page must not vanish because a node is down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from opensearchpy.exceptions import TransportError

from opensearch_winnow.stores.opensearch.requests.bulk_errors import Verdict, verdict_on

UNAVAILABLE = 503

AnyAnswer = TypeVar("AnyAnswer")


def complete(answer: AnyAnswer) -> AnyAnswer:
    """Return the `answer` to a read. Raises TransportError if it is incomplete, and another try may get more."""
    for part in _parts(answer):
        shards, error = part.get("_shards"), part.get("error")
        if isinstance(shards, Mapping) and shards.get("failed"):
            counts = f"{shards['failed']:,} of {shards.get('total', 0):,} shards failed"
            raise _incomplete(counts, shards.get("failures") or [])
        if part.get("timed_out") is True:
            raise _incomplete("the engine stopped at its time limit")
        if isinstance(error, Mapping):
            status = part.get("status", 0)  # documents of an `_mget` or `_mtermvectors` have none
            if verdict_on(status, error) is Verdict.RETRY:
                raise TransportError(status or UNAVAILABLE, error.get("type"), {"error": error, "status": status})
    return answer


def _parts(answer: Any) -> Iterator[Mapping[str, Any]]:
    """Yield an answer and the answers in it: to the searches of an `_msearch`, or about single documents."""
    if isinstance(answer, Mapping):
        yield answer
        for name in ("responses", "docs"):
            if isinstance(parts := answer.get(name), list):
                yield from (part for part in parts if isinstance(part, Mapping))


def _incomplete(reason: str, failures: Any = ()) -> TransportError:
    error = {"type": "incomplete_answer", "reason": reason, "failed_shards": failures}
    return TransportError(UNAVAILABLE, error["type"], {"error": error, "status": UNAVAILABLE})
