"""Describes the later pages that have the text of a lost page: JSON values, a summary, and why there may be none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypedDict

from opensearch_winnow.answers.formatting import count_of, time_stamp
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.locate import Change, FoundPage, Located

CHANGES: tuple[Change, ...] = ("unchanged", "changed", "moved", "merged", "split", "copy")  # in this order in a summary


class FoundPageDocument(TypedDict):
    """A later page. `change` says what happened: the page is `unchanged` or `changed` at its own URL; it `moved` here,
    was `merged` into this page, or was `split` and this is a part of it; or this page is a `copy`, which has the text
    but did not take its place: it was there before, the page itself still is, or several pages may be meant.
    `containment` is how much of the lost page is in this one, and `contained` how much of this one is in the
    lost page; `error` is the standard error of an estimate. `first_seen` is when this URL was first seen with it."""

    id: str
    url: str
    title: str | None
    crawl: str
    fetched_at: str | None
    first_seen: str
    change: Change
    resemblance: float
    containment: float
    contained: float
    kind: Literal["exact", "estimate"]
    error: float


class LocatedDocument(TypedDict):
    """The best of `total` later pages that have the text of a page or a part of it. `id` is the capture whose text was
    sought, and `last_seen` its time, or null. `undated` pages have it too, but nobody knows since when; `unscored`
    candidates were not compared, because the time was up. `reason` says why nothing was found, or is null.
    """

    id: str
    url: str
    title: str | None
    last_seen: str | None
    total: int
    undated: int
    unscored: int
    seconds: float
    reason: str | None
    found: list[FoundPageDocument]


def located_document(index: Index, located: Located) -> LocatedDocument:
    return {
        "id": located.page.id,
        "url": located.page.url,
        "title": located.page.title,
        "last_seen": time_stamp(located.page),
        "total": located.total,
        "undated": located.undated,
        "unscored": located.unscored,
        "seconds": round(located.seconds, 6),
        "reason": None if located.found else _why_nothing(index, located),
        "found": [_found_document(each) for each in located],
    }


def _found_document(found: FoundPage) -> FoundPageDocument:
    return {
        "id": found.card.id,
        "url": found.url,
        "title": found.title,
        "crawl": found.card.crawl,
        "fetched_at": time_stamp(found.card),
        "first_seen": written_time(found.first_seen),
        "change": found.change,
        "resemblance": found.resemblance,
        "containment": found.containment,
        "contained": found.contained,
        "kind": found.kind,
        "error": found.error,
    }


def located_summary(document: LocatedDocument) -> str:
    """Sum up where a page went: "last seen on 2024-01-01, found on 2 later pages: 1 moved, 1 copy"."""
    last = f"last seen {'on ' + document['last_seen'][:10] if document['last_seen'] else 'at an unknown time'}"
    if not document["total"]:
        return f"{last}, found on no later page"
    pages = f"{last}, found on {count_of(document['total'], 'later page')}"
    if len(document["found"]) < document["total"]:
        return pages
    return f"{pages}: {_counted([each['change'] for each in document['found']])}"


def _counted(changes: Sequence[Change]) -> str:
    counts = Counter(changes)
    return ", ".join(
        count_of(counts[each], each, "copies" if each == "copy" else each) for each in CHANGES if counts[each]
    )


def _why_nothing(index: Index, located: Located) -> str:
    """Return a sentence, without its full stop, on why no later page was found."""
    page, last_seen = located.page, located.last_seen
    if last_seen is None:
        return f"{index.name} does not know when {page.url} was captured, and so not which pages are later"
    if located.unscored:
        return f"The time was up before {count_of(located.unscored, 'candidate')} could be compared"
    later = index.later_captures(located)
    seen = f"{page.url} was last seen on {last_seen:%Y-%m-%d}"
    undated = count_of(located.undated, "page of unknown date has it", "pages of unknown date have it")
    others = f"; {undated}" if located.undated else ""
    if not later.total:
        return f"{page.url} is not lost: it is in the latest crawl of {index.name}, of {last_seen:%Y-%m-%d}{others}"
    if not page.text_digest:
        return f"{page.url} has no text, so there is nothing to look for"
    if page.text and len(canonical(page.text, index.scheme).chars) < index.scheme.noise:
        return f"{seen}, and no later page has the same text; it is too short to be looked for in longer pages"
    pages = count_of(later.sharing, "later page shares", "later pages share")
    sharing = f"; {pages} a passage with it" if later.sharing else ""
    captures = "the only capture" if later.total == 1 else f"each of the {later.total:,} captures"
    return f"{seen}, and {captures} since then has less than half of it{others or sharing}"
