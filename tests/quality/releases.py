"""Releases of manuals as dated crawls, and the truth about where their pages went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from tests.public_pages import LUCENE, javadoc
from tests.quality.corpora import Unpacked, html_pages, records
from tests.quality.measured import THRESHOLD
from tests.quality.truth import truth_about

POSTGRESQL = {"13": (2020, 9, 24), "15": (2022, 10, 13), "17": (2024, 9, 26)}
DEBIAN = {"eb11": (2021, 8, 14), "eb12": (2023, 6, 10), "eb13": (2025, 8, 9)}


class Manual(NamedTuple):
    """A manual in several releases. The path of every page begins with the release: https://SITE/RELEASE/NAME."""

    name: str
    pages: Callable[[Any], Iterator[Page]]  # takes `Unpacked`, which only pages from WINNOW_DATA need
    public: bool = False  # whether every clone can download it


class Moves(NamedTuple):
    """The pages that are not in the last release, as they are addressed in a store, and the truth about them."""

    pages: list[Page]
    best: dict[str, set[str]]  # by URL, the later pages that resemble it most, by a half at least; maybe none


class Outcomes(NamedTuple):
    moved: int  # lost pages that are somewhere else, according to the truth
    first: int  # those of them whose place was found first
    gone: int  # lost pages that are nowhere else
    not_found: int  # those of them for which no page of at least that resemblance was found

    @property
    def recall(self) -> float:
        return self.first / self.moved


def postgresql(unpacked: Unpacked) -> Iterator[Page]:
    for page in html_pages(unpacked("postgresql-doc-13-15-17"), "https://pg.example"):
        yield _dated(page, page.url, POSTGRESQL)


def debian(unpacked: Unpacked) -> Iterator[Page]:
    """Yield one release for one machine, the next for six, and the last for one again."""
    for page in html_pages(unpacked("debian-installation-guide-en"), "https://guide.example"):
        *_, edition, name = page.url.split("/")
        machine, release = edition.split("-")
        yield _dated(page, f"https://guide.example/{release}/{machine}/{name}", DEBIAN)


def _dated(page: Page, url: str, days: Mapping[str, tuple[int, int, int]]) -> Page:
    return Page(url, html=page.html, fetched_at=datetime(*days[url.split("/")[3]], tzinfo=UTC))


MANUALS = (
    Manual("lucene", lambda _: javadoc(*LUCENE, one_in=4), public=True),
    Manual("postgresql", postgresql),
    Manual("debian", debian),
)


def without_release(url: str) -> str:
    """Return the URL that a page has in all releases, as on a site that shows the newest release only."""
    *site, _, name = url.split("/", 4)
    return "/".join([*site, name])


def moves(manual: Sequence[Page], address: Callable[[str], str]) -> Moves:
    """Return the pages with the URLs that `address` gives them, and where those went that were lost, by brute force."""
    corpus = records(manual)
    truth = truth_about(corpus, Scheme(), THRESHOLD).resemblances
    times = {record.url: _time(record) for record in corpus}
    last = {address(url): url for url in sorted(times, key=lambda url: times[url])}
    resembling: dict[str, dict[str, float]] = defaultdict(dict)
    for (url, other), resemblance in truth.items():
        if times[other] > times[url] and address(other) != address(url):
            place = resembling[url]
            place[address(other)] = max(resemblance, place.get(address(other), 0.0))
    newest = max(times.values())
    best = {}
    for lost, url in last.items():
        if times[url] < newest:
            found = resembling[url]
            best[lost] = {other for other in found if found[other] == max(found.values())}
    pages = [Page(address(page.url), html=page.html, fetched_at=page.fetched_at) for page in manual]
    return Moves(pages, best)


def _time(record: Record) -> datetime:
    assert record.fetched_at is not None
    return record.fetched_at


def add_crawls(index: Index, pages: Sequence[Page]) -> None:
    """Add the pages, each release as a crawl of its own."""
    in_order = sorted(pages, key=lambda page: str(page.fetched_at))
    for day, some in groupby(in_order, key=lambda page: str(page.fetched_at)[:10]):
        assert not index.add(some, crawl=day).failed


def outcomes(index: Index, best: Mapping[str, set[str]]) -> Outcomes:
    """Locate every lost page, and count what was found first."""
    first = {url: _first(index, url) for url in best}
    moved, gone = [url for url in best if best[url]], [url for url in best if not best[url]]
    found, not_found = sum(first[url] in best[url] for url in moved), sum(first[url] is None for url in gone)
    return Outcomes(len(moved), found, len(gone), not_found)


def _first(index: Index, url: str) -> str | None:
    found = index.locate(url, limit=1).found
    return found[0].url if found and found[0].resemblance >= THRESHOLD else None
