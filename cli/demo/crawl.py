"""A small crawl of pages that are already on this machine, from their files to the store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from opensearch_winnow.cli.demo import licence_pages, pydoc_pages
from opensearch_winnow.cli.demo.clock import Clock
from opensearch_winnow.clusters.asked import Progress
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.hashes import digest
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.filters import Filters

CRAWL = "demo"  # its name in the store
THIS = Filters(crawl=CRAWL, latest=True)


@dataclass(frozen=True, slots=True)
class Crawled:
    modules: int  # pages of each kind
    licences: int
    left_out: dict[str, str]  # modules, and why
    report: Report


Known = dict[tuple[str, str], datetime | None]  # when pages were captured, by URL and content


def pages_before(index: Index) -> Known:
    """Those of the last run. The demo clusters a whole store: one that has other pages, too, is refused."""
    others = index.store.count() - index.store.count(Filters(crawl=CRAWL))
    if others:
        raise WinnowError(
            f"{index.name} has {others:,} pages that are not the demo's, which would cluster them too;"
            " name a store that does not exist yet, and it is made"
        )
    return {(record.url, record.content_digest): record.fetched_at for record in index.store.scan(Record, THIS)}


def crawl(index: Index, known: Known, most: int | None, failed: Path, clock: Clock, progress: Progress) -> Crawled:
    """Add the pages to the store: all of them, or about so many. A page that is known as it is now stays as it is."""
    licences = licence_pages.licence_pages()
    if most is not None:
        licences = licences[:: -(-len(licences) // (most // 2)) or 1]
        most -= len(licences)
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with clock.part("render"):
        modules, left_out = pydoc_pages.pydoc_pages(datetime.now(UTC), workers, most, progress)
    pages = [*_as_known(known, modules), *licences]
    with clock.part("index"):
        report = index.add(_counted(pages, progress), crawl=CRAWL, failed=failed)
    return Crawled(len(modules), len(licences), left_out, report)


def _as_known(known: Known, pages: Iterable[Page]) -> Iterator[Page]:
    """Rendered again, a page that has not changed is no other capture: it keeps its time."""
    for page in pages:
        assert isinstance(page.html, str)
        yield replace(page, fetched_at=known.get((page.url, digest(page.html.encode())), page.fetched_at))


def _counted(pages: list[Page], progress: Progress) -> Iterator[Page]:
    for done, page in enumerate(pages):
        progress("indexing", done, len(pages))
        yield page
