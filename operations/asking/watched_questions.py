"""Reads the questions of all watches of a store, to be looked up together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Self

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.digests import digest
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.ingest.lru_cache import LruCache
from opensearch_winnow.mappings.record import Record, storable
from opensearch_winnow.operations.asking.page_finder import PageFinder
from opensearch_winnow.operations.asking.watches import kept_watch, kept_watches
from opensearch_winnow.operations.upkeep.boilerplate import RegisteredBoilerplate
from opensearch_winnow.queries.asking.lookups import Lookup, lookups
from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.question_table import QuestionTable
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, Exclusions
from opensearch_winnow.stores.captures import captures_of_urls
from opensearch_winnow.stores.store import Store

MAX_CACHED_CHARS = 8_000_000  # of watched texts that are prepared for comparison
PAGES_PER_READ = 100  # watched pages that are read together


class WatchedQuestion(NamedTuple):
    """A question, without its text, and the watches that ask it."""

    url: str | None
    id: str | None  # of the watched capture
    thresholds: Thresholds
    names: Sequence[str]


class WatchState(NamedTuple):
    """A snapshot of the store state that determines the questions of all watches."""

    kept: dict[str, dict[str, Any]]  # the stored values of each watch, by its name
    captures: dict[str, str]  # by watched URL: the id of the latest capture
    boilerplate: list[Boilerplate]

    @classmethod
    def of(cls, store: Store) -> Self:
        kept = kept_watches(store)
        captures: dict[str, str] = {}
        urls = {storable(each["url"]) for each in kept.values() if each["url"] is not None}
        for card in captures_of_urls(store, sorted(urls)):
            captures.setdefault(card.url, card.id)  # the newest comes first
        return cls(kept, captures, RegisteredBoilerplate(store).read() if kept else [])

    def digest(self) -> str:
        kept = {name: {**each, "seen": bool(each["seen"])} for name, each in self.kept.items()}
        return digest(repr((kept, self.captures, self.boilerplate)).encode("utf-8", "surrogatepass"))


class WatchedQuestions:
    """The questions of all watches in a `state` of a store. A page is watched by its latest capture.

    Only their tokens are in memory. `table` finds the numbers of questions, and `get` makes one ready to be compared.
    """

    def __init__(self, store: Store, state: WatchState) -> None:
        self.watched: list[WatchedQuestion] = []  # by number
        self.unanswered: dict[str, str] = {}  # the reason why a watch cannot be checked, by its name
        self.added = {name: datetime.fromisoformat(each["at"]) for name, each in state.kept.items()}
        self.with_seen = {name for name, each in state.kept.items() if each["seen"]}  # some captures were seen
        self.exclusions = Exclusions(state.boilerplate, store.scheme)
        self.digest = state.digest()
        self._store = store
        self._pages = PageFinder(store)
        self._cache: LruCache[Question] = LruCache(MAX_CACHED_CHARS)
        self.table = QuestionTable(self._lookups(state))

    @classmethod
    def current(cls, store: Store, known: WatchedQuestions | None = None) -> WatchedQuestions:
        """Return the questions that a store has now: those `known`, if nothing has changed since."""
        state = WatchState.of(store)
        return known if known is not None and known.digest == state.digest() else cls(store, state)

    def get(self, number: int) -> Question | None:
        """Return a question, or None if its watch or its page has been removed meanwhile."""
        question = self._cache.get(number)
        if question is None:
            record = self._record(self.watched[number])
            if record is None:
                return None
            question = self._question(record)
            self._cache.put(number, question, len(record.text) + 1)
        return question

    def _record(self, watched: WatchedQuestion) -> Record | None:
        if watched.id is not None:
            return self._store.read([watched.id], Record).get(watched.id)
        kept = kept_watch(self._store, watched.names[0])
        return self._pages.text_record(kept["text"], None) if kept and kept["text"] is not None else None

    def _question(self, record: Record) -> Question:
        return Question.of(record, self._store.scheme, self.exclusions)

    def _lookups(self, state: WatchState) -> Iterator[list[Lookup]]:
        """Number the questions, equal ones once, and yield the lookups of each."""
        texts: dict[tuple[str, float], list[str]] = {}
        urls: dict[str, dict[float, list[str]]] = {}
        for name, kept in state.kept.items():
            share = kept["min_containment"]
            if kept["url"] is None:
                texts.setdefault((kept["text"], share), []).append(name)
            else:
                urls.setdefault(storable(kept["url"]), {}).setdefault(share, []).append(name)
        for (text, share), names in texts.items():
            try:
                question = self._question(self._pages.text_record(text, None))
            except QuestionError as error:
                self.unanswered |= dict.fromkeys(names, str(error))
            else:
                yield self._numbered(question, None, share, names)
        for ids in batches(state.captures.values(), PAGES_PER_READ):
            for record in self._store.read(ids, Record).values():
                question = self._question(record)
                for share, names in urls.pop(record.url).items():
                    yield self._numbered(question, record.url, share, names)
        for url, by_share in urls.items():
            for names in by_share.values():
                self.unanswered |= dict.fromkeys(names, f"{self._store.name} has no page {url}")

    def _numbered(self, question: Question, url: str | None, share: float, names: Sequence[str]) -> list[Lookup]:
        thresholds = Thresholds.of("containment", {"containment": share})
        id_ = None if url is None else question.record.id
        self.watched.append(WatchedQuestion(url, id_, thresholds, names))
        return list(lookups(question, thresholds, boilerplate=bool(self.exclusions)))
