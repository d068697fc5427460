"""Checks the pages of an indexing run against all watches of the store, as they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from opensearch_winnow.ingest.runs.report import MAX_LISTED_FINDINGS, Report
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.watch_log import WatchLog
from opensearch_winnow.operations.asking.watched_questions import WatchedQuestions
from opensearch_winnow.operations.asking.watches import kept_watch
from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.compare import Comparer, Side, side
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.stores.captures import captures_of_urls
from opensearch_winnow.stores.store import Store

OnFindings = Callable[[Sequence[Finding]], object]


class PageWatcher:
    """Checks stored pages against the watches of the store.

    A page is a finding if `Watches.check` would list it as new. Each batch of findings is added to the log of the
    store, and then passed to `on_findings`. A page that the log has for a watch is not reported for it again.
    """

    def __init__(
        self, store: Store, questions: WatchedQuestions, on_findings: Callable[[Sequence[Finding]], object]
    ) -> None:
        self.incomplete = 0  # pages that share text with more watches than were compared
        self._store = store
        self._on_findings = on_findings
        self._questions = questions
        self._comparer = Comparer(store.scheme, questions.exclusions)
        self._log = WatchLog(store)
        self._reported: set[tuple[str, str]] | None = None  # watches and URLs in the log; None: not read yet

    @property
    def unanswered(self) -> dict[str, str]:
        """The reason why a watch cannot be checked, by its name."""
        return self._questions.unanswered

    def check(self, records: Iterable[Record]) -> None:
        """Look for new matches among pages that have just been stored."""
        if not self._questions.watched:
            return
        found = self._new([finding for record in records for finding in self._findings(record)])
        if not found:
            return
        self._log.add(found)
        # A deletion removes a page, then its findings. If both happened before the log had these findings, they are
        # removed here.
        if gone := {each.id for each in found}.difference(self._store.read([each.id for each in found], Card)):
            self._log.forget(gone)
            found = [each for each in found if each.id not in gone]
        if found:
            self._on_findings(found)

    def _findings(self, record: Record) -> Iterator[Finding]:
        """Yield a finding for each watch that the page is a match of, new or not."""
        candidates = self._questions.table.candidates(record)
        self.incomplete += not candidates.complete
        theirs: Side | None = None
        for number in candidates.numbers:
            watched = self._questions.watched[number]
            question = None if watched.url == record.url else self._questions.get(number)
            if question is None:
                continue
            if question.side is None or not record.text:
                shares = self._estimated(question, record, watched.thresholds)
            else:
                theirs = theirs or side(record.text, self._store.scheme, name=record.url, site=record.site)
                shares = self._compared(question, question.side, theirs, watched.thresholds)
            if shares is not None:
                containment, longest = shares
                for name in watched.names:
                    yield Finding(
                        at=datetime.now(UTC),
                        watch=name,
                        id=record.id,
                        url=record.url,
                        title=record.title,
                        fetched_at=record.fetched_at,
                        containment=containment,
                        longest=longest,
                    )

    def _compared(
        self, question: Question, ours: Side, theirs: Side, thresholds: Thresholds
    ) -> tuple[float, int] | None:
        """Return the containment and the length of the longest passage, or None if the page is not a match."""
        found = self._comparer.scores(ours, theirs)
        if not thresholds.met_by(found):
            return None
        window = min(question.window, self._store.scheme.w)
        passages, _ = self._comparer.passages(ours, theirs, window=window)
        if thresholds.any_passage and not passages:
            return None
        return found.containment, max((each.end - each.start for each in passages), default=0)

    def _estimated(self, question: Question, record: Record, thresholds: Thresholds) -> tuple[float, int] | None:
        """Return the same for a page whose text is not stored, from its sketches."""
        sites = question.record.site, record.site
        found = self._comparer.estimate(question.sketched, Sketches.of(record), sites).scores
        return (found.containment, 0) if thresholds.met_by(found) else None

    def _new(self, found: Sequence[Finding]) -> list[Finding]:
        """Return the findings whose page is new for their watch, each page once."""
        if not found:
            return []
        if self._reported is None:
            added = self._questions.added
            logged = [each for each in self._log.read() if each.watch in added and each.at >= added[each.watch]]
            self._reported = {(each.watch, each.url) for each in logged}
        fresh = {(each.watch, each.url): each for each in reversed(found)}
        for key in self._reported.intersection(fresh):
            del fresh[key]
        checked = {each.watch for each in fresh.values()} & self._questions.with_seen
        seen = {name: set((kept_watch(self._store, name) or {}).get("seen", ())) for name in checked}
        captures: dict[str, list[str]] = {}
        for card in captures_of_urls(self._store, {each.url for each in fresh.values() if each.watch in seen}):
            captures.setdefault(card.url, []).append(card.id)
        new = [
            each
            for key, each in reversed(fresh.items())
            if not seen.get(each.watch, set()).intersection(captures.get(each.url, [each.id]))
        ]
        self._reported.update((each.watch, each.url) for each in new)
        return new


class RunFindings:
    """The findings of one run. `on_findings`, if there is one, is called with each batch when it is in the log."""

    def __init__(self, on_findings: OnFindings | None = None) -> None:
        self._on_findings = on_findings
        self._first: list[Finding] = []
        self._count = 0
        self._watches: set[str] = set()
        self._watcher: PageWatcher | None = None

    def watch(self, store: Store, questions: WatchedQuestions) -> PageWatcher:
        """Return a watcher for the pages that this run stores."""
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
