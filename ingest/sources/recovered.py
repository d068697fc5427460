"""Recovers pages from a damaged archive: a whole record is a page, a broken one a failed page, the rest is damage."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.archive import Archive
from opensearch_winnow.ingest.sources.archive_records import ArchiveRecord, records
from opensearch_winnow.ingest.sources.header_fields import HEAD
from opensearch_winnow.ingest.sources.http_page import Block
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item

Recovered = Generator[tuple[int, Item], None, int]
"""Yields items with their offsets; returns the offset where reading continues."""


def recovered(archive: Archive, at: int, page_bytes: int, item_of: Callable[[bytes, Block], Item | None]) -> Recovered:
    """Yield the pages that can be read at `at`, where a record or a member starts or should start, and the damage.

    A page has at most `page_bytes`.
    """
    archive_records = records(archive, at, page_bytes + HEAD)
    alone = True
    while True:
        try:
            start, found = next(archive_records)
        except StopIteration as stop:
            return int(stop.value)
        if isinstance(found, Damage):
            yield start, found
        else:
            block = Block(found.length, io.BytesIO(found.content).read)
            for item in _items(found, block, item_of):
                yield start, block.located(item, archive.name, start, found.taken if alone else 0)
            alone = False  # what follows is in the same member


def _items(found: ArchiveRecord, block: Block, item_of: Callable[[bytes, Block], Item | None]) -> Iterator[Item]:
    item = item_of(found.header, block)
    if found.fault and isinstance(item, Failed):
        item = Failed(item.page, found.fault)
    elif found.fault and isinstance(item, Page):
        item.html = None if item.html is None else b""
        item.text = None if item.text is None else ""
        item = Failed(item, found.fault)
    if item:
        yield item
    if found.fault and not isinstance(item, Failed):
        yield Damage(found.taken, found.fault)
