"""Builds fields and bulk actions for an index of your own, as plain values for any client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.hashes import hashes_of
from opensearch_winnow.mappings.opensearch_document import document_of, hash_fields
from opensearch_winnow.mappings.record import Record

if TYPE_CHECKING:
    from opensearch_winnow.ingest.page import Page
    from opensearch_winnow.ingest.sources.split import Failed, Skipped


def winnow_fields(text: str, scheme: Scheme = Scheme(), *, name: str = "", cluster: str = "") -> dict[str, Any]:
    """Return the fields to merge into a document of your own: fingerprints, sketches and their counts, but no text.

    `name` is a path or URL that tells the language of code. `cluster` is the document's cluster, by which
    `deduplicate_search_body` collapses a search: its own `_id`, until the documents are clustered. Without it, the
    field is left out.
    """
    fields = hash_fields(hashes_of(text, with_key(scheme), name or None))
    return {**fields, "cluster": cluster} if cluster else fields


def actions(
    pages: Iterable[Page],
    index: str,
    scheme: Scheme = Scheme(),
    *,
    crawl: str = "",
    left_out: Callable[[Skipped | Failed], object] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield whole documents of a store as actions for `opensearchpy.helpers.bulk`.

    `left_out` is called with each page that has no text or cannot be read; without it, the first such page is an
    error. Each page is taken for the latest capture of its URL; use `Index.add` if there are several.
    """
    # Imported here, because `winnow_fields` does not need the parsers.
    from opensearch_winnow.ingest.page_record import Recipe, RecordMaker  # noqa: PLC0415

    maker = RecordMaker(Recipe(scheme=with_key(scheme), crawl=crawl))
    arrival = 0
    for page in pages:
        record = maker.make(page)
        if isinstance(record, Record):
            arrival = max(arrival + 1, time.time_ns())
            source = document_of(record, arrival=arrival, latest=True)
            yield {"_op_type": "index", "_index": index, "_id": record.id, "_source": source}
        elif left_out is not None:
            left_out(record)
        else:
            raise WinnowError(
                f"{page.url} gives no document: {record.reason}. To go on without such pages, pass left_out=…"
            )
