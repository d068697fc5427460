"""Parts for those who have a pipeline and an index of their own: plain values, for any client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from opensearch_winnow.errors import WinnowError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker, hashes_of
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.opensearch_document import hash_fields, source_of
from opensearch_winnow.mappings.opensearch_mapping import fragment
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.scheme import Scheme


def winnow_fields(text: str, scheme: Scheme = Scheme(), *, name: str = "", cluster: str = "") -> dict[str, Any]:
    """The fields to merge into a document of your own: fingerprints, sketches and their counts. A text is not one.

    A name tells the language of code, as that of a file does. Before anything is clustered, the cluster of a document
    is its own `_id`: then a search can be collapsed (`dedupe`). Without, the field is left out.
    """
    hashes = hashes_of(text, scheme, name or None)
    fields = hash_fields(Record(url="", text="", content_digest="", **hashes._asdict()))
    return {**fields, "cluster": cluster} if cluster else fields


def mapping_fragment(below: str = "") -> dict[str, Any]:
    """`{"properties": …}` of these fields, for the mapping of your own index; if said, below an object field of it."""
    return fragment(below)


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
