"""Releases of manuals as crawls: their real changes, and names that were exchanged on purpose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.crawls.changes import Changes
from tests.quality.corpora import Unpacked, records
from tests.quality.truth import Pairs, truth_about

MIN_RESEMBLANCE = 0.5  # of a page that moved
BEFORE, AFTER = "before", "after"  # the names of the crawls
TIMES = {BEFORE: datetime(2023, 1, 1, tzinfo=UTC), AFTER: datetime(2024, 1, 1, tzinfo=UTC)}
MANUALS = (  # the set of pages, the folder of its releases, and pairs of them
    ("postgresql-doc-13-15-17", "", (("13", "15"), ("15", "17"))),
    ("debian-installation-guide-en", "en", (("amd64-eb11", "amd64-eb12"), ("amd64-eb12", "amd64-eb13"))),
)


class TwoReleases(NamedTuple):
    """Two releases of a manual, at the same address, and what brute force tells about their pages."""

    name: str
    before: list[Page]
    after: list[Page]
    later_pages: dict[str, set[str]]  # by the URL of an earlier page: those that resemble it most, by half or more
    resemblances: Pairs  # exact, of an earlier and a later URL, from 0.01
    gone: set[str]  # the URLs that the later crawl does not have, or that have less than half of the text


class Located(NamedTuple):
    """How `Index.changes` compares with brute force."""

    moves: int  # pages whose text is elsewhere
    located: int  # of these, those whose new place was found
    elsewhere: int  # other pages that are said to have moved
    compared: int  # pages with a resemblance
    equal: int  # of these, those with exactly the resemblance that brute force computes


def two_releases(unpacked: Unpacked, *, newest_only: bool = False) -> Iterator[TwoReleases]:
    """Yield pairs of releases; each as it is, and again with all names of the later one exchanged."""
    for name, folder, pairs in MANUALS:
        for releases in pairs[-1:] if newest_only else pairs:
            before, after = (_pages(unpacked(name) / folder / release) for release in releases)
            title = f"{name.split('-')[0]} {' → '.join(releases)}"
            yield _with_truth(title, before, after)
            yield _with_truth(f"{title}, names exchanged", before, _exchanged(after))


def with_template(page: Page, edition: str) -> Page:
    """Return a page with the menu and the footer of an edition, as a site with a template has them on every page."""
    assert isinstance(page.html, bytes)
    menu = f"<ul><li>Home<li>{edition} news<li>Manuals of the {edition} edition</ul>".encode()
    footer = f"<p>This page belongs to the {edition} edition of the manual.</p>".encode()
    start, end = page.html.index(b">", page.html.index(b"<body")) + 1, page.html.rindex(b"</body>")
    return Page(page.url, html=page.html[:start] + menu + page.html[start:end] + footer + page.html[end:])


def index_releases(index: Index, releases: TwoReleases) -> None:
    """Index both releases as crawls."""
    for crawl, pages in ((BEFORE, releases.before), (AFTER, releases.after)):
        index.add((Page(each.url, html=each.html, fetched_at=TIMES[crawl]) for each in pages), crawl=crawl)


def located(changes: Changes, truth: TwoReleases) -> Located:
    """Count the pages that were located, and the resemblances that are right."""
    moves = {url for url in truth.gone if truth.later_pages.get(url)}
    moved = {each.url: each.to_url for each in changes.pages if each.change in ("moved", "split", "merged")}
    scored = [each for each in changes.pages if each.resemblance is not None]
    return Located(
        moves=len(moves),
        located=sum(moved.get(url) in truth.later_pages[url] for url in moves),
        elsewhere=sum(each.change == "moved" and each.url not in moves for each in changes.pages),
        compared=len(scored),
        equal=sum(each.resemblance == truth.resemblances.get((each.url, each.to_url or ""), 0.0) for each in scored),
    )


def _pages(folder: Path) -> list[Page]:
    paths = sorted(folder.glob("*.html"))
    return [Page(f"https://manual.example/{path.name}", html=path.read_bytes()) for path in paths]


def _exchanged(pages: Sequence[Page]) -> list[Page]:
    """Return the pages with their URLs in another order, in which no page keeps its own."""
    urls = [page.url for page in pages]
    Random(0).shuffle(urls)
    following = dict(zip(urls, [*urls[1:], urls[0]], strict=True))
    return [Page(following[page.url], html=page.html) for page in pages]


def _with_truth(name: str, before: list[Page], after: list[Page]) -> TwoReleases:
    both = [(BEFORE, page) for page in before] + [(AFTER, page) for page in after]
    corpus: list[Record] = records(Page(f"{crawl} {page.url}", html=page.html) for crawl, page in both)
    truth = truth_about(corpus, Scheme(), min_score=0.0)
    resemblances = {}
    by_page: dict[str, dict[str, float]] = defaultdict(dict)
    for (one, other), share in truth.resemblances.items():
        if one.startswith(f"{BEFORE} ") and other.startswith(f"{AFTER} "):
            url, to_url = one.removeprefix(f"{BEFORE} "), other.removeprefix(f"{AFTER} ")
            resemblances[url, to_url] = share
            if share >= MIN_RESEMBLANCE:
                by_page[url][to_url] = share
    later_pages = {
        url: {to for to, share in found.items() if share == max(found.values())} for url, found in by_page.items()
    }
    urls = (record.url.removeprefix(f"{BEFORE} ") for record in corpus if record.url.startswith(f"{BEFORE} "))
    gone = {url for url in urls if truth.containments.get((f"{BEFORE} {url}", f"{AFTER} {url}"), 0.0) < MIN_RESEMBLANCE}
    return TwoReleases(name, before, after, later_pages, resemblances, gone)
