"""Finds the two states of a site or collection that are compared: two crawls, or two dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.time_period import TimePeriod
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.captures import captures_of_urls
from opensearch_winnow.stores.store import Crawl, Store

MAX_CRAWLS_NAMED = 10  # in a message
URLS_IN_SAMPLE = 500  # of a crawl, to see which other crawls have one of them
MAX_CRAWLS_SAMPLED = 20  # the latest
MICROSECOND = timedelta(microseconds=1)


class CrawlState(NamedTuple):
    """The pages as a crawl saw them, or as they were at a date: of each URL, the last capture that `where` selects."""

    name: str  # of the crawl, or the date
    where: Filters


def crawl_states(
    store: Store, before: str | datetime | None = None, after: str | datetime | None = None
) -> tuple[CrawlState, CrawlState]:
    """Return the two states to compare; without any given, those of the two latest crawls that have URLs in common.

    A string names a crawl, or else a date, by its end. A time stands for the captures until then, that of `after` for
    those since `before`.
    """
    crawls = {crawl.name: crawl for crawl in store.crawls()}
    if before is None or after is None:
        names = list(crawls)
        if len(names) < 2:
            raise QuestionError(f"there is nothing to compare: {_crawls_there_are(store, names)}")
        before, after = comparable_crawls(store, names) or (names[-2], names[-1])
    moments = [None if each in crawls else _moment(each) for each in (before, after)]
    match moments:
        case [datetime() as earlier, datetime() as later]:
            return _at_dates(store, (_name(before), earlier), (_name(after), later))
        case [None, None]:
            return _of_crawls(store, crawls, str(before), str(after))
    unknown = [each for each in (before, after) if isinstance(each, str) and each not in crawls]
    there_is = f": there is no crawl {unknown[0]!r}" if unknown else ""
    raise QuestionError(f"name two crawls or two dates, not one of each{there_is}")


def _moment(given: str | datetime) -> datetime | None:
    """Return a time, or the end of a date; None if it is neither."""
    if isinstance(given, datetime):
        return given
    try:
        return TimePeriod.of(given.strip()).last
    except (ValueError, OverflowError):
        return None


def _name(given: str | datetime) -> str:
    return given if isinstance(given, str) else f"{given:%Y-%m-%d}"


def comparable_crawls(store: Store, names: Sequence[str]) -> tuple[str, str] | None:
    """Return the two latest of these crawls that have URLs in common, by a sample of them; None if no two have.

    A store may hold crawls of several sites in turn: the two latest may have nothing to do with each other.
    """
    for at in range(len(names) - 1, max(len(names) - 1 - MAX_CRAWLS_SAMPLED, 0), -1):
        sample = store.scan(Card, Filters(crawl=names[at]), limit=URLS_IN_SAMPLE)
        seen = {card.crawl for card in captures_of_urls(store, {card.url for card in sample})}
        before = next((name for name in reversed(names[:at]) if name in seen), None)
        if before is not None:
            return before, names[at]
    return None


def _of_crawls(store: Store, crawls: Mapping[str, Crawl], before: str, after: str) -> tuple[CrawlState, CrawlState]:
    for name in (before, after):
        if name not in crawls:
            raise QuestionError(f"there is no crawl {name!r}: {_crawls_there_are(store, list(crawls))}")
    if before == after:
        there = _crawls_there_are(store, list(crawls))
        raise QuestionError(f"crawl {before!r} cannot be compared with itself: {there}")
    start, end = crawls[before].first, crawls[after].last
    if start is not None and end is not None and start > end:
        raise QuestionError(f"crawl {before!r} is later than {after!r}: exchange the two")
    return CrawlState(before, Filters(crawl=before)), CrawlState(after, Filters(crawl=after))


def _at_dates(
    store: Store, earlier: tuple[str, datetime], later: tuple[str, datetime]
) -> tuple[CrawlState, CrawlState]:
    (name, before), (later_name, after) = earlier, later
    if before >= after:
        raise QuestionError(f"the earlier date, {before:%Y-%m-%d}, is not before the later one, {after:%Y-%m-%d}")
    until = Filters(until=before + MICROSECOND)
    since = Filters(since=before + MICROSECOND, until=after + MICROSECOND)
    if not store.count(until):
        raise QuestionError(f"{store.name} has no capture that is known to be from {before:%Y-%m-%d} or before")
    if not store.count(since):
        raise QuestionError(
            f"{store.name} has no capture that is known to be from after {before:%Y-%m-%d}, until {after:%Y-%m-%d}"
        )
    return CrawlState(name, until), CrawlState(later_name, since)


def _crawls_there_are(store: Store, names: list[str]) -> str:
    """Return a sentence that lists the crawls of a store, the latest first; with advice if there are fewer than two."""
    if not names:
        return f"no capture in {store.name} has the name of a crawl (winnow index --crawl NAME); compare two dates"
    if len(names) == 1:
        return f"{store.name} has only one crawl, {names[0]!r}; index another one, or compare two dates"
    named = ", ".join(names[: -MAX_CRAWLS_NAMED - 1 : -1])
    return f"{store.name} has the crawls {named}{' and others' * (len(names) > MAX_CRAWLS_NAMED)}"
