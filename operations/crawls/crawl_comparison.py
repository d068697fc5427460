"""Compares two crawls: finds pages that changed, moved, were split or merged, are new, or were not seen again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import merge, nsmallest
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import Literal

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.progress import no_progress
from opensearch_winnow.foundation.written_time import EPOCH
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.repeated_pages import known_payload
from opensearch_winnow.operations.asking.page_comparer import TEXT_BATCH, PageComparer
from opensearch_winnow.operations.asking.text_finder import MOSTLY, CrawlCapture, FoundText, TextFinder
from opensearch_winnow.operations.crawl_states import CrawlState, crawl_states
from opensearch_winnow.operations.crawls.changes import IN_LIST, KINDS, Change, ChangeKind, Changes, ChangesQuestion
from opensearch_winnow.queries.asking.changed_passages import changed_passages
from opensearch_winnow.queries.compare import Comparer
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.scores import Scores
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Exclusions
from opensearch_winnow.queries.upkeep.site_template import MIN_PAGES, TemplateChange
from opensearch_winnow.stores.store import Store, Text

MAX_SAMPLE_SIZE = 100  # changed pages of a site that a change of its template is learned from
MAX_SORTED_URL_CHARS = 4_000  # an engine does not index longer URLs, and does not sort them
CAPTURES_BETWEEN_CHECKS = 1_000
PAIRS_PER_BATCH = 32  # whose texts are in memory at a time, to find their passages

READING, COMPARING, SEEKING = "reading both crawls", "comparing pages", "looking for pages elsewhere"
Pair = tuple[CrawlCapture, CrawlCapture]  # of one URL, before and after


def changes(store: Store, question: ChangesQuestion, exclusions: Exclusions = NO_EXCLUSIONS) -> Changes:
    """Count all changes between two crawls, and list those in question."""
    before, after = crawl_states(store, question.before, question.after)
    comparison = CrawlComparison(store, before, after, question, exclusions)
    counts: dict[ChangeKind, int] = dict.fromkeys(KINDS, 0)
    pages: dict[ChangeKind, list[Change]] = {kind: [] for kind in IN_LIST}
    template = without_text = 0
    for each in comparison.changes():
        counts[each.change] += 1
        template += each.template
        without_text += each.without_text
        some = pages[each.change]
        if question.lists(each) and (question.limit is None or len(some) < question.limit):
            some.append(each)
    listed = list(chain.from_iterable(pages.values()))
    if question.passages:
        listed = list(_with_passages(store, listed))
    return Changes(before.name, after.name, counts, template, without_text, comparison.common, listed)


def _with_passages(store: Store, listed: Sequence[Change]) -> Iterator[Change]:
    """Yield the changes, with the removed and added passages where the texts of two captures differ."""
    for some in batches(listed, PAIRS_PER_BATCH):
        differing = [each for each in some if each.resemblance is not None and each.change != "unchanged"]
        texts = store.read([id_ for each in differing for id_ in (each.id, each.to_id) if id_], Text)
        for each in some:
            before, after = texts.get(each.id or ""), texts.get(each.to_id or "")
            if before is None or after is None:
                yield each
            else:
                removed, added = changed_passages(before.text, after.text, store.scheme, name=each.url)
                yield replace(each, removed=removed, added=added)


class CrawlComparison:
    """Compares the captures that two crawls, or two periods, have of each page. Texts are compared exactly.

    Of several captures of a URL in one crawl, the latest counts. Every page of the earlier crawl is one of these:

    - unchanged: its URL has the same text, apart from spacing, case and punctuation; or, if a capture has no text, as a
      revisit of a page that is not stored, the same payload.
    - changed: its URL has another text. With `template`, only the template of the site is another. With
      `without_text`, a capture has no text, and may have been the same.
    - moved, split, merged: its URL is gone, or less than `min_containment` of its text is left there; the text is
      elsewhere in the later crawl, as TextFinder finds it. Pages are merged, too, if they moved to the same page and
      each is a different part of it; but one that makes up MOSTLY all of that page has moved there.
    - not_seen: its URL is gone, and so is its text. That does not prove that the page was deleted.

    A new page is one of the later crawl, with a URL that the earlier crawl does not have and to which no page moved.
    """

    def __init__(
        self,
        store: Store,
        before: CrawlState,
        after: CrawlState,
        question: ChangesQuestion = ChangesQuestion(),  # noqa: B008 (frozen)
        exclusions: Exclusions = NO_EXCLUSIONS,
    ) -> None:
        """With a `site` in question, only its pages are compared; their texts are still sought on all sites."""
        self._store = store
        self._site = question.site and question.site.lower()
        self._before, self._after = (replace(state.where, site=self._site) for state in (before, after))
        self._all_before, self._all_after = before.where, after.where
        self._min_containment = question.min_containment
        self._exclusions = exclusions
        self._progress = question.progress or no_progress
        self._new: dict[str, CrawlCapture] = {}  # pages with a new URL, by it
        self.common = 0  # URLs of both, as far as they have been read

    def changes(self) -> Iterator[Change]:
        """Yield all changes, each kind in the order of URLs."""
        pairs: list[Pair] = []
        lost: list[CrawlCapture] = []
        joined = self._joined()
        while some := list(islice(joined, CAPTURES_BETWEEN_CHECKS)):
            same_payload = self._with_same_payload(some)
            for before, after in some:
                self.common += before is not None and after is not None
                if before is None:
                    assert after is not None
                    self._new[after.url] = after
                elif after is None:
                    lost.append(before)
                elif before.text_digest and before.text_digest == after.text_digest:
                    yield _change("unchanged", before, after, Scores(1.0, 1.0, 1.0))
                elif before.url in same_payload:
                    yield _change("unchanged", before, after, None)
                else:
                    pairs.append((before, after))
        changed = {each.url: each for each in self._compared(pairs)}
        replaced = [before for before, _ in pairs if self._is_replaced(changed[before.url])]
        sought = sorted([*lost, *replaced], key=attrgetter("url"))
        found = list(self._sought(sought))
        merged = _merged(found)
        for page, where in found:
            if where is not None:
                changed.pop(page.url, None)
                yield _relocated(page, where, merged=page.id in merged)
                for later in where.later_pages:
                    self._new.pop(later.card.url, None)
            elif page.url not in changed:
                yield Change("not_seen", page.url, None, id=page.id, fetched_at=page.fetched_at)
        yield from changed.values()
        for url, page in self._new.items():
            yield Change("new", url, url, to_id=page.id, to_fetched_at=page.fetched_at)

    # --- captures by URL ----------------------------------------------------------------------------------------------

    def _joined(self) -> Iterator[tuple[CrawlCapture | None, CrawlCapture | None]]:
        """Yield the captures of each URL, before and after, in the order of URLs."""
        total = self._store.count(self._before) + self._store.count(self._after)
        late: tuple[list[Card], list[Card]] = ([], [])
        done = 0

        def sorted_scan(number: Literal[0, 1], where: Filters) -> Iterator[tuple[str, int, Card]]:
            nonlocal done
            for card in self._store.scan(Card, where, order="url"):
                done += 1
                if done % CAPTURES_BETWEEN_CHECKS == 0:
                    check_cancelled()
                    self._progress(READING, done, total)
                if len(card.url) > MAX_SORTED_URL_CHARS:
                    late[number].append(card)
                else:
                    yield card.url, number, card

        key = _url_and_side
        in_order = merge(sorted_scan(0, self._before), sorted_scan(1, self._after), key=key)
        yield from _by_url(in_order)
        yield from _by_url(sorted(((card.url, side, card) for side in (0, 1) for card in late[side]), key=key))

    def _with_same_payload(self, joined: Sequence[tuple[CrawlCapture | None, CrawlCapture | None]]) -> Collection[str]:
        """Return the URLs whose two captures, of which one has no text, have the same payload digest."""
        pairs = [(before, after) for before, after in joined if before and after and _lacks_text(before, after)]
        entries = self._store.read([each.id for pair in pairs for each in pair], CaptureEntry) if pairs else {}
        payload = {id_: known_payload(entry.payload_digest) for id_, entry in entries.items()}.get
        return {before.url for before, after in pairs if payload(before.id) and payload(before.id) == payload(after.id)}

    def _is_new(self, card: Card) -> bool:
        if self._site in (None, card.site):
            return card.url in self._new
        where = self._all_before
        same = Selection(url=card.url, crawl=where.crawl, since=where.since, until=where.until)
        return next(self._store.scan(Card, same, limit=1), None) is None

    # --- texts --------------------------------------------------------------------------------------------------------

    def _compared(self, pairs: Sequence[Pair]) -> Iterator[Change]:
        """Compare the two captures of each URL, in the order of the pairs."""
        templates = self._template_changes(pairs)
        comparer, of_all_text = PageComparer(self._store, self._exclusions), Comparer(self._store.scheme)
        for done, ((before, after), sides) in enumerate(zip(pairs, comparer.sides_of_pairs(pairs), strict=True)):
            if done % TEXT_BATCH == 0:
                self._progress(COMPARING, done, len(pairs))
            if sides is None:
                yield _change("changed", before, after, None, without_text=_lacks_text(before, after))
                continue
            found = comparer.scores(*sides)
            template = templates.get(before.site)
            is_template = template is not None and template.explains(*(each.canonical.text for each in sides))
            if self._exclusions and found.resemblance == 1 > of_all_text.scores(*sides).resemblance:
                is_template = True
            yield _change("changed", before, after, found, template=is_template)

    def _template_changes(self, pairs: Sequence[Pair]) -> dict[str, TemplateChange]:
        """Learn how the templates of the sites changed."""
        by_site: dict[str, list[Pair]] = defaultdict(list)
        for pair in pairs:
            by_site[pair[0].site].append(pair)
        learned = {}
        for site, some in by_site.items():
            if len(some) >= MIN_PAGES:
                check_cancelled()
                # Ids are as good as random numbers: the pages with the smallest are a fair sample.
                sample = nsmallest(MAX_SAMPLE_SIZE, some, key=lambda pair: pair[0].id)
                texts = self._texts(sample)
                known = [(texts.get(before.id, ""), texts.get(after.id, "")) for before, after in sample]
                learned[site] = TemplateChange([pair for pair in known if all(pair)], self._store.scheme)
        return learned

    def _texts(self, pairs: Sequence[Pair]) -> dict[str, str]:
        ids = [capture.id for pair in pairs for capture in pair]
        return {id_: page.text for id_, page in self._store.read(ids, Text).items()}

    def _is_replaced(self, change: Change) -> bool:
        """Return whether less than `min_containment` of a page is left at its URL."""
        return change.containment is not None and not change.template and change.containment < self._min_containment

    def _sought(self, pages: Sequence[CrawlCapture]) -> Iterator[tuple[CrawlCapture, FoundText | None]]:
        finder = TextFinder(
            self._store,
            self._all_after,
            threshold=self._min_containment,
            exclusions=self._exclusions,
            is_new=self._is_new,
        )
        found = {}
        for number, (page, where) in enumerate(finder.find(pages)):
            self._progress(SEEKING, number, len(pages))
            found[page.id] = where
        return ((page, found[page.id]) for page in pages)


def _url_and_side(tagged: tuple[str, int, Card]) -> tuple[str, int]:
    return tagged[:2]


def _by_url(tagged: Iterable[tuple[str, int, Card]]) -> Iterator[tuple[CrawlCapture | None, CrawlCapture | None]]:
    """Yield the latest capture of each URL on either side; of those without a time, the one written last."""
    for _, some in groupby(tagged, key=lambda each: each[0]):
        latest: dict[int, Card] = {}
        for _, side_number, card in some:
            before = latest.get(side_number)
            if before is None or (card.fetched_at or EPOCH) >= (before.fetched_at or EPOCH):
                latest[side_number] = card
        yield _capture(latest.get(0)), _capture(latest.get(1))


def _lacks_text(*captures: CrawlCapture) -> bool:
    """Return whether one of the captures has no text. One whose text is not stored still has its digest."""
    return not all(each.text_digest for each in captures)


def _capture(card: Card | None) -> CrawlCapture | None:
    return card and CrawlCapture(card.id, card.url, card.site, card.fetched_at, card.text_digest)


def _change(
    kind: ChangeKind,
    before: CrawlCapture,
    after: CrawlCapture,
    found: Scores | None,
    *,
    template: bool = False,
    without_text: bool = False,
    parts: tuple[str, ...] = (),
) -> Change:
    return Change(
        kind,
        before.url,
        after.url,
        found and found.resemblance,
        found and found.containment,
        template,
        before.id,
        after.id,
        before.fetched_at,
        after.fetched_at,
        parts,
        without_text,
    )


def _merged(found: Iterable[tuple[CrawlCapture, FoundText | None]]) -> Collection[str]:
    """Return the ids of pages that moved to the same page, where each has room beside the others.

    A page that makes up MOSTLY all of it has moved there, and the others were merged into it.
    """
    together: dict[str, list[tuple[str, Scores]]] = defaultdict(list)
    for page, where in found:
        if where is not None and where.change != "split":
            (later,) = where.later_pages
            together[later.card.id].append((page.id, later.scores))
    return {
        id_
        for pages in together.values()
        if len(pages) > 1 and sum(each.contained for _, each in pages) <= 1
        for id_, each in pages
        if each.resemblance < MOSTLY
    }


def _relocated(page: CrawlCapture, found: FoundText, *, merged: bool) -> Change:
    best = found.later_pages[0]
    to = CrawlCapture(best.card.id, best.card.url, best.card.site, best.card.fetched_at, best.card.text_digest)
    parts = tuple(later.card.url for later in found.later_pages) if found.change == "split" else ()
    return _change("merged" if merged else found.change, page, to, best.scores, parts=parts)
