"""Adds pages that are already on this machine to a store, as a small crawl."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.demo import licence_pages, pydoc_pages
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.digests import digest
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.queries.filters import Filters

CRAWL = "demo"  # the name of the crawl in the store
THIS_CRAWL = Filters(crawl=CRAWL, latest=True)


@answer
class Crawled(Answer):
    """The pages that the demo has crawled."""

    modules: int = key("The number of pages of Python modules.")
    licences: int = key("The number of pages of licences.")
    left_out: dict[str, str] = key("The modules without a page, and why.")
    pages: int = key("The number of all pages.")
    indexed: int = key("The number of pages that are new, or have changed.")
    unchanged: int = key("The number of pages that were stored before.")
    skipped: int = key("The number of pages that were left out.")
    failed: int = key("The number of pages that failed.")


class Clock:
    """Measures how long the parts of a run take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


KnownCaptures = dict[tuple[str, str], datetime | None]  # capture times, by URL and content digest


def known_captures(index: Index) -> KnownCaptures:
    """Return the captures of the last run. Refuse a store with other pages, because the demo clusters a whole store."""
    others = index.count() - index.count(Filters(crawl=CRAWL))
    if others:
        raise WinnowError(
            f"{index.name} has {count_of(others, 'page')} that the demo did not add, and would cluster them too;"
            " name a store that does not exist yet"
        )
    return {(record.url, record.content_digest): record.fetched_at for record in index.records(THIS_CRAWL)}


def crawl(
    index: Index, known: KnownCaptures, max_pages: int | None, failed: Path, clock: Clock, progress: Progress
) -> Crawled:
    """Add all pages, or about `max_pages`, to the store. A page that has not changed keeps its capture."""
    licences = licence_pages.licence_pages()
    if max_pages is not None:
        licences = licences[:: -(-len(licences) // (max_pages // 2)) or 1]
        max_pages -= len(licences)
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with clock.part("render"):
        modules, left_out = pydoc_pages.pydoc_pages(datetime.now(UTC), workers, max_pages, progress)
    pages = [*_with_known_times(known, modules), *licences]
    with clock.part("index"):
        report = index.add(_with_progress(pages, progress), crawl=CRAWL, failed=failed)
    return Crawled(
        modules=len(modules),
        licences=len(licences),
        left_out=left_out,
        pages=report.pages,
        indexed=report.indexed,
        unchanged=report.unchanged,
        skipped=report.skipped.total(),
        failed=report.failed.total(),
    )


def _with_known_times(known: KnownCaptures, pages: Iterable[Page]) -> Iterator[Page]:
    """Give unchanged pages their old capture time, so that rendering them again makes no new capture."""
    for page in pages:
        assert isinstance(page.html, str)
        yield replace(page, fetched_at=known.get((page.url, digest(page.html.encode())), page.fetched_at))


def _with_progress(pages: list[Page], progress: Progress) -> Iterator[Page]:
    for done, page in enumerate(pages):
        progress("indexing", done, len(pages))
        yield page
