"""Two crawls of public real pages, in which pages were changed, moved, split, merged and quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from html import unescape
from itertools import pairwise

from opensearch_winnow.ingest.page import Page
from tests.public_pages import HUTOOL, LUCENE, NABLARCH, Release, javadoc, licences as read_licences

FIRST, SECOND = "first", "second"
CRAWLS = (FIRST, SECOND)
DAYS = {FIRST: datetime(2022, 1, 15, tzinfo=UTC), SECOND: datetime(2024, 11, 1, tzinfo=UTC)}
# One page in this number. Which pages these are is decided by their names.
STEPS = ((LUCENE, 30), (HUTOOL, 4), (NABLARCH, 4))
MIRROR_STEP, LICENCE_STEP = 60, 7
MOVED, NOT_SEEN, SPLIT = 6, 5, 4
TAG = re.compile(r"<script.*?</script>|<[^>]*>", re.DOTALL)


@cache
def licences() -> tuple[Page, ...]:
    """Return all licences."""
    return tuple(read_licences())


@cache
def crawls() -> dict[str, list[Page]]:
    """Return the pages of each crawl, at the same addresses where they were not moved."""
    return {FIRST: list(first_crawl()), SECOND: list(second_crawl())}


def first_crawl() -> Iterator[Page]:
    """Yield the earlier releases, and licences."""
    for releases, step in STEPS:
        yield from _site(releases[0], step)
    yield from _licences(FIRST)


def second_crawl() -> Iterator[Page]:
    """Yield the latest releases with some pages moved, a mirror of an earlier one, fewer licences, and quotes."""
    for releases, step in STEPS:
        for page in _site(releases[-1], step):
            name = page.url.rpartition("/")[2]
            moved = page.url.replace("/org/", "/moved/org/") if sum(name.encode()) % MOVED == 0 else page.url
            yield Page(moved, html=page.html, fetched_at=page.fetched_at)
    for page in _site(LUCENE[1], MIRROR_STEP):
        yield Page(page.url.replace("lucene.", "mirror."), html=page.html, fetched_at=page.fetched_at)
    kept = [page for number, page in enumerate(_licences(SECOND)) if number % NOT_SEEN]
    yield from _split_and_merged(kept)
    yield from quotes()


def quotes() -> Iterator[Page]:
    """Yield pages that consist of parts of two licences, between words of their own."""
    texts = [plain_text(page) for page in licences()[::40]]
    long = [text for text in texts if len(text) > 4_000]
    for number, (one, other) in enumerate(pairwise(long)):
        start = 500 + 37 * number
        text = (
            f"Notes on the licences, part {number}, which quote at length what they are about. {one[start:][:1_500]} "
            f"So far the first of them; the other one, number {number}, says of the same: {other[-900:]}"
        )
        yield Page(f"https://notes.example/part-{number}", text=text, title=f"Notes {number}", fetched_at=DAYS[SECOND])


def plain_text(page: Page) -> str:
    """Return the text between the tags of a page, for questions that are texts."""
    html = page.html.decode() if isinstance(page.html, bytes) else page.html or page.text or ""
    return " ".join(unescape(TAG.sub(" ", html)).split())


def _site(release: Release, step: int) -> Iterator[Page]:
    """Yield pages of a release, at addresses that do not name the release."""
    for page in javadoc(release, one_in=step):
        yield Page(page.url.replace(f"/{release.version}/", "/"), html=page.html, fetched_at=page.fetched_at)


def _licences(crawl: str) -> Iterator[Page]:
    for page in licences()[::LICENCE_STEP]:
        yield Page(page.url, html=page.html, title=page.title, fetched_at=DAYS[crawl])


def _split_and_merged(pages: list[Page]) -> Iterator[Page]:
    """Yield the pages: some as two parts, and some as one page of two."""
    waiting: Page | None = None
    for number, page in enumerate(pages):
        assert isinstance(page.html, str)
        if number % SPLIT == 1 and (middle := page.html.find("<p", len(page.html) // 2)) > 0:
            for part, html in (("begin", page.html[:middle]), ("end", page.html[middle:])):
                yield Page(page.url.replace(".html", f"-{part}.html"), html=html, fetched_at=page.fetched_at)
        elif number % SPLIT == 2 and waiting is None:
            waiting = page
        elif number % SPLIT == 2 and waiting is not None:
            assert isinstance(waiting.html, str)
            url = page.url.replace(".html", "-and-another.html")
            yield Page(url, html=waiting.html + page.html, fetched_at=page.fetched_at)
            waiting = None
        else:
            yield page
    if waiting is not None:
        yield waiting
