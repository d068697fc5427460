"""Whole documents of a store, for a bulk loop of your own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.opensearch_document import source_of
from opensearch_winnow.mappings.record import Record


def actions(
    pages: Iterable[Page],
    index: str,
    scheme: Scheme = Scheme(),
    *,
    crawl: str = "",
    left_out: Callable[[Skipped | Failed], object] | None = None,
) -> Iterator[dict[str, Any]]:
    """Whole documents of a store, as actions for `opensearchpy.helpers.bulk`.

    Pages that have no text, or cannot be read, go to `left_out`; without it, the first one is an error. Each is taken
    for the latest capture of its URL: where there are several, `Index.add` knows better.
    """
    maker = RecordMaker(Recipe(scheme=scheme, crawl=crawl))
    place = 0
    for page in pages:
        record = maker.make(page)
        if isinstance(record, Record):
            place = max(place + 1, time.time_ns())
            source = source_of(record, place=place, latest=True)
            yield {"_op_type": "index", "_index": index, "_id": record.id, "_source": source}
        elif left_out is not None:
            left_out(record)
        else:
            raise WinnowError(f"{page.url} gives no document: {record.reason}; say where such pages go (left_out=…)")
