"""Counts documents and requests, and logs each reason for missing fields once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from logging import getLogger

from opensearch_winnow.gateway.missing_fields import MAX_SENTENCE, MissingFields, cut

SHOWN = ("documents", "without_fields", "unread", "passed")
MAX_LOGGED = 1_000  # reasons: clients choose the names in them

log = getLogger("winnow.gateway")


class Activity:
    """The numbers of documents and requests since the gateway was started."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._logged: set[str] = set()

    def numbers(self) -> dict[str, int]:
        return {name: self._counts[name] for name in SHOWN}

    def count_request(self) -> None:
        self._counts["passed"] += 1

    def count_documents(
        self, with_fields: int, missing: MissingFields, *, unread: bool = False, notes: Collection[str] = ()
    ) -> None:
        """Count the documents of a request that the engine has accepted, and log why some have no fields."""
        self._counts["documents"] += with_fields
        self._counts["without_fields"] += missing.documents
        self._counts["unread"] += unread
        for line in (*missing.log_lines(), *(cut(note, MAX_SENTENCE) for note in sorted(notes))):
            self._log_once(line)

    def _log_once(self, line: str) -> None:
        if line in self._logged or len(self._logged) > MAX_LOGGED:
            return
        self._logged.add(line)
        is_last = len(self._logged) > MAX_LOGGED
        log.warning("%s", "no fields for more documents: further reasons are not logged" if is_last else line)
