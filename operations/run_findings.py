"""Collects the findings of an indexing run for its report, and passes them on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opensearch_winnow.ingest.report import MAX_LISTED_FINDINGS, Report
from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.operations.page_watcher import PageWatcher
from opensearch_winnow.operations.watched_questions import WatchedQuestions
from opensearch_winnow.stores.store import Store

OnFindings = Callable[[Sequence[Finding]], object]


class RunFindings:
    """The findings of one run. `on_findings`, if there is one, is called with each batch when it is in the log."""

    def __init__(self, on_findings: OnFindings | None = None) -> None:
        self._on_findings = on_findings
        self._first: list[Finding] = []
        self._count = 0
        self._watches: set[str] = set()
        self._watcher: PageWatcher | None = None

    def watch(self, store: Store, questions: WatchedQuestions) -> PageWatcher:
        """Return what checks the pages that this run stores."""
        self._watcher = PageWatcher(store, questions, self._add)
        return self._watcher

    def put_into(self, report: Report) -> None:
        report.findings = self._first
        report.finding_count = self._count
        report.finding_watches = len(self._watches)
        if self._watcher is not None:
            report.unanswered_watches = self._watcher.unanswered
            report.incompletely_watched = self._watcher.incomplete

    def _add(self, findings: Sequence[Finding]) -> None:
        self._first += findings[: MAX_LISTED_FINDINGS - len(self._first)]
        self._count += len(findings)
        self._watches.update(each.watch for each in findings)
        if self._on_findings is not None:
            self._on_findings(findings)
