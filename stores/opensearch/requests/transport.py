"""Repeats requests that are safe to repeat: on another node if there is one, or later. See retries.py."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from opensearchpy import Transport
from opensearchpy.exceptions import SerializationError, TransportError

from opensearch_winnow.stores.opensearch.requests.complete_answers import complete
from opensearch_winnow.stores.opensearch.requests.retries import PATIENT, QUICK, Attempts, is_answer, is_read


class RetryingTransport(Transport):
    """Repeats a request for some seconds while the engine is busy or gives no complete answer: a user is waiting."""

    patience = QUICK
    answered = False  # whether an engine has ever answered

    def perform_request(
        self, method: str, url: str, params: Mapping[str, Any] | None = None, *rest: Any, **options: Any
    ) -> Any:
        """Send a request, repeat it if necessary, and return the answer."""
        attempts = Attempts(
            method, url, self.patience, nodes=len(self.hosts), answered=self.answered, now=time.monotonic()
        )
        while True:
            try:
                # A copy, because opensearch-py removes its own parameters from it.
                answer = super().perform_request(method, url, dict(params or {}), *rest, **options)
                checked = checked_answer(method, url, answer)
            except (TransportError, SerializationError) as error:
                self.answered = self.answered or is_answer(error)
                pause = attempts.pause_after(error, time.monotonic())
            else:
                self.answered = True
                return checked
            time.sleep(pause)


class PatientTransport(RetryingTransport):
    """Repeats a request for two minutes, for long unattended runs."""

    patience = PATIENT


def checked_answer(method: str, path: str, answer: Any) -> Any:
    """Return a complete answer. Raises SerializationError or TransportError if a part of it is missing."""
    if answer == "":
        raise SerializationError(answer, "an empty answer")
    return complete(answer) if is_read(method, path) else answer
