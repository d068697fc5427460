"""Recovers pages from a damaged archive: a whole record is a page, a broken one has failed, the rest is damage."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.archive import Archive
from opensearch_winnow.ingest.sources.header_fields import HEAD
from opensearch_winnow.ingest.sources.http_page import Block
from opensearch_winnow.ingest.sources.records import ArchiveRecord, records
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item

Recovered = Generator[tuple[int, Item], None, int]
"""Yields items with where they start; returns where to go on."""


def recovered(archive: Archive, at: int, most: int, item_of: Callable[[bytes, Block], Item | None]) -> Recovered:
    """Yield what can be read where a record, or a member, starts or should start. `most` is the limit of a page."""
    looked_at = records(archive, at, most + HEAD)
    while True:
        try:
            start, found = next(looked_at)
        except StopIteration as stop:
            return int(stop.value)
        if isinstance(found, Damage):
            yield start, found
        else:
            for item in _judged(found, item_of):
                yield start, item


def _judged(found: ArchiveRecord, item_of: Callable[[bytes, Block], Item | None]) -> Iterator[Item]:
    item = item_of(found.header, Block(found.length, io.BytesIO(found.content).read))
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
