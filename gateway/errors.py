"""Errors of the gateway itself, in the form in which engines answer with theirs."""

from __future__ import annotations

import msgspec

from opensearch_winnow.gateway.engine_answer import EngineAnswer

JSON = "application/json; charset=UTF-8"


class GatewayError(Exception):
    """A request that the gateway cannot pass on."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.kind = kind

    def answer(self) -> EngineAnswer:
        return error_answer(self.status, self.kind, str(self))


def too_much_memory(reason: str) -> GatewayError:
    """Return the error of a request for which there is no memory left, as engines answer it (circuit breakers)."""
    return GatewayError(429, "circuit_breaking_exception", f"{reason} (--max-memory); try again")


def error_answer(status: int, kind: str, reason: str) -> EngineAnswer:
    """Return an error as an engine would answer with it."""
    cause = {"type": kind, "reason": reason}
    body = msgspec.json.encode({"error": {"root_cause": [cause], **cause}, "status": status})
    return EngineAnswer(status, {"content-type": JSON}, body)
