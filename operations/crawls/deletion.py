"""Deletes pages from a store, and their traces in clusters, templates and watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, NamedTuple, Self

from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.option_kinds import FLAG, repeated, text
from opensearch_winnow.foundation.options import Options, group, option
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.asking.page_finder import known_spellings, spellings
from opensearch_winnow.operations.asking.watch_log import WatchLog
from opensearch_winnow.operations.asking.watches import SETTING as WATCH
from opensearch_winnow.operations.clusters.left_clusters import cluster_what_is_left, refresh_largest
from opensearch_winnow.operations.crawls.remaining_copies import NO_COPIES, RemainingCopies, remaining_copies
from opensearch_winnow.operations.upkeep.boilerplate import RegisteredBoilerplate
from opensearch_winnow.queries.filters import MAX_URLS, Filters, Selection
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.blocked_pages import PREFIX, SITE, change_blocked
from opensearch_winnow.stores.captures import captures_of_urls
from opensearch_winnow.stores.chosen_captures import chosen_captures
from opensearch_winnow.stores.store import Store, ViewHit

BATCH_SIZE = 1_000  # captures that are deleted at a time
HITS_PER_READ = 10_000
MAX_EXAMPLES = 10
MAX_WORDS_CHARS = 10_000
DELETING, CLEANING, ERASING = "deleting", "cleaning up", "erasing"  # the phases


class DeletedCapture(NamedTuple):
    """A capture that was deleted, or would be."""

    fetched_at: datetime | None
    id: str
    crawl: str
    url: str

    @classmethod
    def of(cls, card: Card) -> Self:
        """Return the capture of a card."""
        return cls(card.fetched_at, card.id, card.crawl, card.url)


@answer(frozen=False)
class DeletionReport(Answer):
    """The pages that were deleted; in a dry run, the pages that would be."""

    pages: int = key("The number of URLs of the captures that were found.", default=0)
    captures: int = key("The number of captures that were found.", default=0)
    deleted: int = key("The number of captures that were deleted; 0 in a dry run.", default=0)
    ids: list[str] = field(default_factory=list)  # of the captures that were found
    reclustered: int = key(
        "The number of pages with a new cluster, because the representative of theirs was deleted.", default=0
    )
    missing: list[str] = key("The URLs and ids that the store does not have.", default_factory=list)
    known: dict[str, str] = key(
        "Another spelling of a missing URL, if the store has one, by that URL.", default_factory=dict
    )
    blocked: list[str] = key("The entries that `block` puts on the list of blocked pages.", default_factory=list)
    boilerplate: list[str] = key("The names of templates that were learned again or removed.", default_factory=list)
    watches: list[str] = key("The names of watches whose page is gone.", default_factory=list)
    copies: RemainingCopies = key("The pages with the same text at other addresses.", default=NO_COPIES)
    examples: list[DeletedCapture] = key("The first captures that were found, at most 10.", default_factory=list)
    erased: bool = key("True if the bytes of deleted pages are gone from the files of the store, too.", default=False)
    stopped: bool = key("True if the run was stopped before its end.", default=False)
    seconds: float = key("The time it took.", default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionOptions(Options):
    """The captures that are deleted, beside URLs, and how."""

    ids: Iterable[str] = option(
        (), repeated(text("ID")), "Delete the capture with this id. Can be repeated.", flag="--id"
    )
    words: str | None = option(
        None, text("WORDS", MAX_WORDS_CHARS), "Delete the captures that a search for WORDS finds."
    )
    where: Filters = group(Filters)
    dry_run: bool = option(False, FLAG, "Delete nothing, and list what would be deleted.")
    block: bool = option(False, FLAG, "Never index these URLs, or this --site, again.")
    erase: bool = option(
        True,
        FLAG,
        "Afterwards, write the files of the store anew, without the bytes of deleted pages. Alone, --erase does this"
        " for pages that were deleted before.",
        flag="--erase/--no-erase",
    )
    progress: Progress | None = None
    stop: Callable[[], bool] | None = None

    @property
    def filtered(self) -> bool:
        """True if filters choose captures."""
        return any(self.where.keywords().values())


@dataclass(frozen=True, slots=True)
class DeletionRequest(DeletionOptions):
    """The captures to delete: of these URLs and ids, or with these words, if they meet the filters."""

    urls: str | Iterable[str] = ()  # one that ends with * stands for all URLs that begin so

    def __post_init__(self) -> None:
        super(DeletionRequest, self).__post_init__()
        urls = [self.urls] if isinstance(self.urls, str) else list(self.urls)
        object.__setattr__(self, "urls", urls)
        object.__setattr__(self, "ids", list(self.ids))
        if not (urls or self.ids or self.words is not None or self.filtered):
            raise QuestionError("say which pages to delete: give URLs, ids, words, or filters")
        if self.words is not None and (urls or self.ids):
            raise QuestionError("pages to delete are named, or found by words: give URLs and ids, or words, not both")
        if self.words is not None and not self.words.strip():
            raise QuestionError("there are no words to find the pages to delete")
        if self.ids and self.filtered:
            raise QuestionError("an id names one capture: give ids or filters, not both")
        if "" in urls or PREFIX in urls:
            raise QuestionError("a URL to delete is empty: to delete all pages of a site, give the site")

    def entries_to_block(self) -> list[str]:
        """Return the URLs, or the site, of the request. Raise an error if it selects captures in another way."""
        if self.where != Filters(site=self.where.site) or self.ids or self.words is not None:
            raise QuestionError("only URLs or a site can be blocked: give no ids, words, crawl or dates")
        return list(self.urls) or [f"{SITE}{self.where.site}"]


class Deletion:
    """Deletes the captures of a request, batch by batch."""

    def __init__(self, store: Store, request: DeletionRequest) -> None:
        store.delete(())  # raises an error if the store is an index of the user's own
        self._store = store
        self._request = request
        self._named_urls, self._named_ids = list(request.urls), list(request.ids)
        self._boilerplate = RegisteredBoilerplate(store)
        self._found: dict[str, None] = {}  # ids of the captures to delete, in order
        self._deleted: set[str] = set()  # ids
        self._representatives: list[str] = []  # ids of deleted ones
        self._sites: set[str] = set()  # of deleted captures
        self._urls: set[int] = set()  # hashes of the URLs that were found, because URLs can be long
        self.report = DeletionReport()

    def find(self) -> None:
        """Find the captures to delete, and the copies of their texts at other addresses."""
        for card in self._matches():
            if card.id not in self._found:
                self._found[card.id] = None
                self._urls.add(hash(card.url))
        self.report.ids = list(self._found)
        self.report.examples = [
            DeletedCapture.of(card) for card in chosen_captures(self._store, Card, ids=self.report.ids[:MAX_EXAMPLES])
        ]
        self.report.captures, self.report.pages = len(self._found), len(self._urls)
        exclusions = self._boilerplate.exclusions()
        self.report.copies = remaining_copies(self._store, self.report.ids, self._urls, exclusions)

    def run(self) -> None:
        """Delete the captures that were found. If it is stopped, the batches before that are deleted."""
        report, ids, stop = self.report, self.report.ids, self._request.stop
        progress = self._request.progress or no_progress
        try:
            for start in range(0, len(ids), BATCH_SIZE):
                progress(DELETING, start, len(ids))
                if stop is not None and stop():
                    report.stopped = True
                    break
                self._delete(ids[start : start + BATCH_SIZE])
        finally:
            if self._deleted:
                progress(CLEANING, 0, None)
                self._clean_up()
        if self._request.erase and not report.stopped:
            progress(ERASING, 0, None)
            self._store.erase()
            report.erased = True

    def _matches(self) -> Iterator[Card | ViewHit]:
        request = self._request
        if request.words is not None:
            yield from self._with_words(Words.of(request.words))
        elif not (self._named_urls or self._named_ids):
            yield from self._store.scan(Card, request.where)
        yield from self._named()

    def _named(self) -> Iterator[Card]:
        """Yield the captures of the URLs and ids of the request, and note which of these the store does not have."""
        prefixes = [url for url in self._named_urls if url.endswith(PREFIX)]
        urls = [url for url in self._named_urls if not url.endswith(PREFIX)]
        missing = dict.fromkeys((*prefixes, *urls, *self._named_ids))
        for prefix in prefixes:
            for card in self._scan(Selection(url_prefix=prefix.removesuffix(PREFIX))):
                missing.pop(prefix, None)
                yield card
        for some in batches(urls, MAX_URLS):
            for card in self._scan(Selection(urls=tuple(some))):
                missing.pop(card.url, None)
                yield card
        for ids in batches(self._named_ids, BATCH_SIZE):
            for card in self._store.read(ids, Card).values():
                missing.pop(card.id, None)
                yield card
        self.report.missing = list(missing)
        self.report.known = {
            **{prefix: known for prefix in prefixes if prefix in missing and (known := self._known_prefix(prefix))},
            **known_spellings(self._store, [url for url in urls if url in missing]),
        }

    def _known_prefix(self, prefix: str) -> str | None:
        """Return another spelling of a prefix that URLs of the store begin with."""
        for other in spellings(prefix):
            same = Selection(url_prefix=other.removesuffix(PREFIX))
            if other.endswith(PREFIX) and any(True for _ in self._store.scan(Card, same, limit=1)):
                return other
        return None

    def _scan(self, selection: Selection) -> Iterator[Card]:
        where = {each.name: getattr(self._request.where, each.name) for each in fields(Filters)}
        return self._store.scan(Card, replace(selection, **where))

    def _with_words(self, words: Words) -> Iterator[ViewHit]:
        with self._store.view(words, self._request.where) as view:
            for start in range(0, view.total, HITS_PER_READ):
                yield from view.ranked(start, start + HITS_PER_READ)

    def _delete(self, ids: Sequence[str]) -> None:
        cards = self._store.read(ids, Card).values()
        representatives = [card.id for card in cards if card.cluster == card.id]
        self.report.reclustered += cluster_what_is_left(self._store, representatives, self._found)
        self._representatives += representatives
        self.report.deleted += self._store.delete(ids)
        self._deleted.update(ids)
        self._sites.update(card.site for card in cards)

    def _clean_up(self) -> None:
        """Remove the traces of the deleted captures in clusters, templates and watches.

        Other programs may write these meanwhile: an indexing run its findings, a clustering run the clusters. Each of
        them checks afterwards that its pages still exist, so this method must read them after the pages are deleted.
        """
        watches = self._store.settings.with_prefix(WATCH)
        kept_urls = {kept["url"] for kept in watches.values()}
        kept_urls.update(url for each in self._boilerplate.read() for url in (each.name, each.url))
        named = {url for url in kept_urls if url and hash(url) in self._urls}
        gone = named.difference(card.url for card in captures_of_urls(self._store, named))
        self.report.boilerplate = self._boilerplate.forget(self._sites, gone)
        for name, kept in sorted(watches.items()):
            if kept["url"] in gone:
                self.report.watches.append(name.removeprefix(WATCH))
            if not self._deleted.isdisjoint(kept["seen"]):
                self._store.settings.change(name, self._without_deleted)
        WatchLog(self._store).forget(self._deleted)
        # Again, for pages of a run that was stopped, and for those that were clustered meanwhile.
        self.report.reclustered += cluster_what_is_left(self._store, self._representatives, self._deleted)
        refresh_largest(self._store)

    def _without_deleted(self, kept: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the stored values of a watch, without the deleted captures among those that were seen."""
        return kept and kept | {"seen": [id_ for id_ in kept["seen"] if id_ not in self._deleted]}


def delete_pages(store: Store, request: DeletionRequest) -> DeletionReport:
    """Delete the captures of a request, and report on them. With `erase`, nothing is left of them in the files.

    In a `dry_run`, they are only looked for. With `block`, the URLs or the site are blocked first. `stop` is called
    before each batch of 1,000; if it returns true, the rest is left.
    """
    start = time.monotonic()
    blocked = request.entries_to_block() if request.block else []
    deletion = Deletion(store, request)
    deletion.report.blocked = list(dict.fromkeys(blocked))
    if blocked and not request.dry_run:
        change_blocked(store, add=blocked)
    deletion.find()
    if not request.dry_run and deletion.report.captures:
        deletion.run()
    deletion.report.seconds = time.monotonic() - start
    return deletion.report
