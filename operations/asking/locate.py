"""Finds the later pages that resemble a moved or lost page, contain it, or hold a part of it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, inlined, key, listed
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.option_kinds import number
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.operations.asking.text_finder import same_end
from opensearch_winnow.operations.crawl_states import MICROSECOND
from opensearch_winnow.queries.asking.matches import Match
from opensearch_winnow.queries.asking.similar_options import MAX_MATCHES, SimilarOptions, SimilarQuestion
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.spans import Span, merged_spans
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.store import Store

HALF = 0.5
MIN_PART = 0.1  # of a page that was split: smaller parts are mostly menus and notices that many pages have
MOSTLY = 0.8  # a page was not split if a later page has this share of it, and its parts are not sought
# A page that resembles another by half also contains half of it.
QUESTIONS = (
    SimilarOptions(min_containment=HALF, limit=None, all_captures=True),
    SimilarOptions(min_containment=MIN_PART, min_contained=HALF, limit=None, all_captures=True),
)

Change = Literal["unchanged", "changed", "moved", "merged", "split", "copy"]


@dataclass(frozen=True, slots=True)
class LostPage(Options):
    """A question about a page that moved or was lost, given by its `url` or the `id` of a capture."""

    url: str | None = None
    _: KW_ONLY
    id: str | None = None
    at: datetime | None = option_of(SimilarQuestion, "at")
    limit: int | None = option(20, number(1, MAX_MATCHES), "Show the N best pages.")
    boilerplate: bool = option_of(SimilarOptions, "boilerplate")
    max_seconds: float | None = None


@answer
class FoundPage(Answer):
    """A later page that has the text of a page, or a part of it."""

    change: Change = key(
        'The change: the page is "unchanged" or "changed" at its URL; it "moved" here, was "merged" into this page, or'
        ' was "split", and this is a part of it; or this page is a "copy", which has the text but did not take its'
        " place: it is older, the page still exists, or several pages qualify."
    )
    resemblance: float = key("The shared text, as a share of the text of both pages.")
    containment: float = key("The share of the lost page that is in this one.")
    contained: float = key("The share of this page that is in the lost one.")
    kind: Literal["exact", "estimate"] = key("exact: scores computed from both texts; estimate: from sketches.")
    error: float = key("The standard error of the containment; 0 if it is exact.")
    first_seen: datetime = key(
        "The time when this URL was first captured with the text, even before the page was lost."
    )
    card: Card = inlined()  # of the capture of its URL that matches best

    @property
    @derived
    def crawl(self) -> str:
        """The crawl of this capture; empty if it has no name."""
        return self.card.crawl

    @property
    def url(self) -> str:
        """The URL of the page."""
        return self.card.url

    @property
    def title(self) -> str | None:
        """The title of the page; None if it has none."""
        return self.card.title


@answer
class Located(Listing[FoundPage]):
    """The later pages of a lost page, the best first."""

    page: Record  # the capture whose text was sought
    total: int = key("The number of pages that were found, of which only the best may be listed.")
    undated: int = key("The number of URLs that match too, but only in captures of unknown time.")
    unscored: int = key("Candidates that were not compared, because the time was up.")
    seconds: float = key("The time it took.")
    reason: str | None = key("The reason why nothing was found, in words; null if something was.")
    found: list[FoundPage] = listed("The pages, the best first.")

    @property
    @derived
    def id(self) -> str:
        """The id of the capture whose text was sought."""
        return self.page.id

    @property
    @derived
    def url(self) -> str:
        """The URL of the lost page."""
        return self.page.url

    @property
    @derived
    def title(self) -> str | None:
        """The title of that capture."""
        return self.page.title

    @property
    @derived
    def last_seen(self) -> datetime | None:
        """The time of that capture; null if it is unknown, and then nothing is found."""
        return self.page.fetched_at


def locate(
    store: Store, page: Record, *, exclusions: Exclusions, limit: int | None, max_seconds: float | None
) -> Located:
    """Find the pages captured later than `page`, in another crawl, that have its text or a part of it, best first."""
    start = time.perf_counter()
    by_url: dict[str, dict[str, Match]] = defaultdict(dict)  # captures by id
    unscored = 0
    for is_for_parts, options in enumerate(
        QUESTIONS if page.fetched_at else ()
    ):  # or else no page is known to be later
        left = None if max_seconds is None else max(start + max_seconds - time.perf_counter(), 0.0)
        question = SimilarPages(store, page, replace(options, max_seconds=left), exclusions, is_stored=True)
        matches = question.find(passages=bool(is_for_parts))
        unscored += matches.unscored
        for match in matches:
            by_url[match.url][match.card.id] = match
        if any(match.containment >= MOSTLY and is_later(match.card, page) for match in matches):
            break
    found = [each for each in (_found_page(page, list(some.values())) for some in by_url.values()) if each is not None]
    # Of equals, new pages come first, then pages with the same file name: pages move to other folders and hosts.
    found.sort(key=lambda each: (_rank(each), each.change == "copy", -same_end(each.url, page.url), each.url))
    parts = {match.card.id: match.passages for some in by_url.values() for match in some.values()}
    found = _without_copies(page, found, parts)
    undated = sum(url != page.url and not any(map(_is_dated, some.values())) for url, some in by_url.items())
    return Located(
        page=page,
        total=len(found),
        undated=undated,
        unscored=unscored,
        seconds=time.perf_counter() - start,
        reason=None if found else _why_nothing(store, page, undated=undated, unscored=unscored, exclusions=exclusions),
        found=found[:limit],
    )


def _why_nothing(store: Store, page: Record, *, undated: int, unscored: int, exclusions: Exclusions) -> str:
    """Return a sentence, without its full stop, on why no later page was found."""
    if page.fetched_at is None:
        return f"{store.name} does not know when {page.url} was captured, and so not which pages are later"
    if unscored:
        return f"The time was up before {_count(unscored, 'candidate', 'candidates')} could be compared"
    since = Filters(since=page.fetched_at + MICROSECOND)
    later = store.count(since) - (store.count(replace(since, crawl=page.crawl)) if page.crawl else 0)
    last_seen = f"{page.fetched_at:%Y-%m-%d}"
    seen = f"{page.url} was last seen on {last_seen}"
    others = f"; {_count(undated, 'page of unknown date has it', 'pages of unknown date have it')}" if undated else ""
    if not later:
        return f"{page.url} is not lost: it is in the latest crawl of {store.name}, of {last_seen}{others}"
    if not page.hashes.text_digest:
        return f"{page.url} has no text, so there is nothing to look for"
    if page.text and len(canonical(page.text, store.scheme).chars) < store.scheme.noise:
        return f"{seen}, and no later page has the same text; it is too short to be looked for in longer pages"
    captures = "the only capture" if later == 1 else f"each of the {later:,} captures"
    if not undated:
        # Estimates count the pages as well as texts do, and faster, unless the shared text may be boilerplate.
        options = SimilarOptions(min_containment=0, exact=bool(exclusions), where=since, limit=1)
        if sharing := SimilarPages(store, page, options, exclusions, is_stored=True).find().total:
            others = f"; {_count(sharing, 'later page shares', 'later pages share')} a passage with it"
    return f"{seen}, and {captures} since then has less than half of it{others}"


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def is_later(card: Card, page: Record) -> bool:
    """Return whether a capture is later than `page`, and of another crawl: one crawl may take days."""
    if card.fetched_at is None or page.fetched_at is None:
        return False
    return card.fetched_at > page.fetched_at and not (page.crawl and card.crawl == page.crawl)


def _found_page(page: Record, captures: Sequence[Match]) -> FoundPage | None:
    """Return the later capture of a URL that matches best, the newest of equals; None if no capture is later."""
    times = [each.card.fetched_at for each in captures if each.card.fetched_at is not None]
    later = [each for each in captures if is_later(each.card, page)]
    if not later:
        return None
    best = min(later, key=lambda each: (_rank(each), -_seconds(each.card)))
    return FoundPage(
        change=_change(page, best, had_it=len(times) > len(later)),
        resemblance=best.resemblance,
        containment=best.containment,
        contained=best.contained,
        kind=best.kind,
        error=best.error,
        first_seen=min(times),
        card=best.card,
    )


def _change(page: Record, match: Match, *, had_it: bool) -> Change:
    if match.url == page.url:
        return "unchanged" if match.card.text_digest == page.hashes.text_digest != "" else "changed"
    if had_it:
        return "copy"
    if match.resemblance >= HALF:
        return "moved"
    return "merged" if match.containment >= HALF else "split"


def _without_copies(
    page: Record, found: Sequence[FoundPage], passages: Mapping[str, Sequence[Passage]]
) -> list[FoundPage]:
    """Mark pages as copies that have the text, but did not take the place of the page: it moves to one URL at most.

    If the page itself still exists, all others are copies. If several pages have its text, or the same part of it, and
    none of them is its successor, all of them are copies.
    """
    taken: set[str] = set()  # URLs of pages that took its place, or a part of it
    if all(each.url != page.url for each in found):
        for change in ("moved", "merged"):
            taken |= _successor(page, [each for each in found if each.change == change])
        parts = [each for each in found if each.change == "split"]
        spans = {each.url: merged_spans(some[:2] for some in passages[each.card.id]) for each in parts}
        for each in parts:
            rivals = [other for other in parts if other is each or _are_the_same(spans[each.url], spans[other.url])]
            taken |= _successor(page, rivals)
    kept = ("unchanged", "changed")
    return [each if each.change in kept or each.url in taken else replace(each, change="copy") for each in found]


def _successor(page: Record, candidates: Sequence[FoundPage]) -> set[str]:
    """Return the URL of the candidate that took the place of a page; an empty set if several candidates may have.

    It is the only candidate; or on the same site, the only one, the only one with the same file name, or the best one;
    or, if none is on the same site, the only one with the same path. Candidates are sorted, the best first.
    """
    own = urlsplit(page.url)
    near = [each for each in candidates if each.card.site == page.site]
    named = [each for each in near if _name(each.url) == _name(page.url)]
    best = near[:1] if len(near) > 1 and _rank(near[0]) < _rank(near[1]) else []
    moved = [each for each in candidates if urlsplit(each.url)[2:4] == own[2:4] and own.path not in ("", "/")]
    only = next((some for some in (candidates, near, named, best, [] if near else moved) if len(some) == 1), ())
    return {each.url for each in only}


def _name(url: str) -> str:
    return urlsplit(url).path.rstrip("/").rpartition("/")[2]


def _are_the_same(one: Sequence[Span], other: Sequence[Span]) -> bool:
    """Return whether two parts of a page share at least half of the smaller one."""
    sizes = [sum(end - start for start, end in each) for each in (one, other, merged_spans([*one, *other]))]
    return sizes[0] + sizes[1] - sizes[2] >= HALF * min(sizes[:2]) > 0


def _rank(each: Match | FoundPage) -> tuple[float, float, float]:
    """Return a sort key: pages that resemble the lost one come first, then pages that contain the most of it."""
    return -each.resemblance if each.resemblance >= HALF else 0.0, -each.containment, -each.resemblance


def _is_dated(match: Match) -> bool:
    return match.card.fetched_at is not None


def _seconds(card: Card) -> float:
    assert card.fetched_at is not None
    return card.fetched_at.timestamp()
