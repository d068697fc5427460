"""Keeps the findings of watches in a store."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4

from opensearch_winnow.foundation.option_kinds import START_OF_DATE, number
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.time_period import EXAMPLES
from opensearch_winnow.mappings.finding import Finding, Findings
from opensearch_winnow.stores.store import Store

# Each run writes settings of its own, named by time: runs at the same time do not overwrite each other's findings.
SETTING = "watch-log:"
MAX_FINDINGS = 10_000  # that a store keeps, the newest
MAX_PARTS = 1_000  # settings: the newest 1,000 runs that found anything
FINDINGS_PER_PART = 500


@dataclass(frozen=True, slots=True)
class LogQuestion(Options):
    """A question to the log: the findings of the watch with this `name`, or of all watches."""

    name: str | None = None
    _: KW_ONLY
    since: datetime | None = option(None, START_OF_DATE, f"Only findings since DATE: {EXAMPLES}.")
    limit: int | None = option(100, number(1, MAX_FINDINGS), "Number of findings to list.")


class WatchLog:
    """The newest findings of all watches of a store. One object is for one run, or for reading."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._name = ""  # of the setting that this run adds to
        self._added = 0  # findings that this run has added to it

    def answer(self, question: LogQuestion) -> Findings:
        """Return the wanted findings, the newest first."""
        found = self.read(() if question.name is None else (question.name,), since=question.since)
        return Findings(len(found), found[: question.limit])

    def read(self, watches: Collection[str] = (), *, since: datetime | None = None) -> list[Finding]:
        """Return the findings of these watches, or of all, the newest first."""
        parts = self._store.settings.with_prefix(SETTING)
        found = [Finding.from_document(each) for name in sorted(parts) for each in parts[name]][-MAX_FINDINGS:]
        found = [
            each for each in found if (not watches or each.watch in watches) and (since is None or each.at >= since)
        ]
        found.sort(key=lambda each: each.at)
        return found[::-1]

    def add(self, findings: Sequence[Finding]) -> None:
        """Append findings, and drop the oldest ones beyond MAX_FINDINGS, a whole setting at a time.

        They are appended to the present log: another process may have deleted pages that this run has found before.
        """
        added: dict[str, list[dict[str, Any]]] = {}
        surplus: set[str] = set()
        for finding in findings:
            if not self._name or self._added >= FINDINGS_PER_PART:
                self._name, self._added = f"{SETTING}{time.time_ns():020d}-{uuid4().hex[:8]}", 0
                surplus.update(self._surplus())
            added.setdefault(self._name, []).append(finding.to_dict())
            self._added += 1
        if surplus:
            self._store.settings.set(dict.fromkeys(surplus))
        for name, documents in added.items():
            self._store.settings.change(name, partial(_appended, documents))

    def forget(self, ids: Collection[str]) -> None:
        """Remove the findings of these captures."""
        for name, part in self._store.settings.with_prefix(SETTING).items():
            if any(each["id"] in ids for each in part):
                self._store.settings.change(name, partial(_without, ids))

    def _surplus(self) -> list[str]:
        """Return the settings to delete: all before the newest MAX_FINDINGS findings."""
        parts = self._store.settings.with_prefix(SETTING)
        findings = FINDINGS_PER_PART  # those to come
        for kept, name in enumerate(sorted(parts, reverse=True), start=1):
            findings += len(parts[name])
            if findings - len(parts[name]) >= MAX_FINDINGS or kept >= MAX_PARTS:
                return sorted(parts)[: len(parts) - kept + 1]
        return []


def _appended(added: Sequence[dict[str, Any]], part: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    before = part or []
    return [*before, *(each for each in added if each not in before)]  # a change may be made twice


def _without(ids: Collection[str], part: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    return [each for each in part or () if each["id"] not in ids] or None
