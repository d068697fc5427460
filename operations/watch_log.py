"""Keeps the findings of watches in a store."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.stores.store import Store

# Each run writes settings of its own, named by time: runs at the same time do not overwrite each other's findings.
SETTING = "watch-log:"
MAX_FINDINGS = 10_000  # that a store keeps, the newest
MAX_PARTS = 1_000  # settings: the newest 1,000 runs that found anything
FINDINGS_PER_PART = 500


class WatchLog:
    """The newest findings of all watches of a store. One object is for one run, or for reading."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._name = ""  # of the setting that this run adds to
        self._part: list[dict[str, Any]] = []  # what is in it

    def read(
        self, watches: Collection[str] = (), *, since: datetime | None = None, limit: int | None = None
    ) -> list[Finding]:
        """Return the findings of these watches, or of all: the newest first, `limit` of them at most."""
        parts = self._store.settings(SETTING)
        found = [Finding.from_document(each) for name in sorted(parts) for each in parts[name]][-MAX_FINDINGS:]
        found = [
            each for each in found if (not watches or each.watch in watches) and (since is None or each.at >= since)
        ]
        found.sort(key=lambda each: each.at)
        return found[::-1][:limit]

    def add(self, findings: Sequence[Finding]) -> None:
        """Append findings, and drop the oldest ones beyond MAX_FINDINGS, a whole setting at a time."""
        changed: dict[str, Any] = {}
        for finding in findings:
            if not self._name or len(self._part) >= FINDINGS_PER_PART:
                self._name, self._part = f"{SETTING}{time.time_ns():020d}-{uuid4().hex[:8]}", []
                changed |= dict.fromkeys(self._surplus())
            self._part.append(finding.as_document())
            changed[self._name] = self._part
        self._store.set_settings(changed)

    def forget(self, ids: Collection[str]) -> None:
        """Remove the findings of these captures."""
        for name, part in self._store.settings(SETTING).items():
            left = [each for each in part if each["id"] not in ids]
            if len(left) < len(part):
                self._store.set_setting(name, left or None)

    def _surplus(self) -> list[str]:
        """Return the oldest settings that are not needed: those before the newest MAX_FINDINGS findings."""
        parts = self._store.settings(SETTING)
        findings = FINDINGS_PER_PART  # those to come
        for kept, name in enumerate(sorted(parts, reverse=True), start=1):
            findings += len(parts[name])
            if findings - len(parts[name]) >= MAX_FINDINGS or kept >= MAX_PARTS:
                return sorted(parts)[: len(parts) - kept + 1]
        return []
