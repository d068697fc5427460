"""Adds pages that are already on this machine to a store, as a small crawl."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.digests import digest
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.runs.worker_pool import available_processors
from opensearch_winnow.operations.demo.licence_pages import licence_pages
from opensearch_winnow.operations.demo.pydoc_pages import pydoc_pages

CRAWL = "demo"  # the name of the crawl in the store


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


def crawl(
    add: Callable[..., Report],
    known: KnownCaptures,
    max_pages: int | None,
    failed: Path,
    clock: Clock,
    progress: Progress,
) -> Crawled:
    """Add all pages, or about `max_pages`, as `Index.add` does. A page that has not changed keeps its capture."""
    licences = licence_pages()
    if max_pages is not None:
        licences = licences[:: -(-len(licences) // (max_pages // 2)) or 1]
        max_pages -= len(licences)
    with clock.part("render"):
        modules, left_out = pydoc_pages(datetime.now(UTC), available_processors(), max_pages, progress)
    pages = [*_with_known_times(known, modules), *licences]
    with clock.part("index"):
        report = add(_with_progress(pages, progress), crawl=CRAWL, failed=failed)
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
