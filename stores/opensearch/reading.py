"""Reads pages from the index: by id, or all that meet a selection."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.hash_tokens import unpacked_tokens
from opensearch_winnow.mappings.opensearch_document import CARD_FIELDS, ENTRY_FIELDS, any_card_of, entry_of, record_of
from opensearch_winnow.mappings.record import Record, storable
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW, pages
from opensearch_winnow.queries.estimates import Sketches
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.stores.opensearch.candidates import Overlaps
from opensearch_winnow.stores.opensearch.index_client import Hit, IndexClient
from opensearch_winnow.stores.opensearch.scans import scan
from opensearch_winnow.stores.store import Fields, Order, Text

FIRST_BATCH = 16  # pages of a selection by key; each next batch is larger, since most selections end here
GROWTH = 8


class _Shape(NamedTuple):
    """How the fields of a page are read from its document."""

    fields: Sequence[str] | bool  # of `_source`; True: all
    make: Callable[[str, Mapping[str, Any]], Any]  # from `_id` and `_source`
    batch: int  # pages in memory during a scan


SHAPES: dict[type, _Shape] = {
    Record: _Shape(True, lambda _, source: record_of(source), 100),
    Card: _Shape(CARD_FIELDS, any_card_of, 1_000),
    CaptureEntry: _Shape(ENTRY_FIELDS, entry_of, 1_000),
    Sketches: _Shape(
        ("shingle_count", "sketch", "minhash"),
        lambda _, source: Sketches(
            source.get("shingle_count") or 0,
            unpacked_tokens(source.get("sketch") or ""),
            b64decode(source.get("minhash") or ""),
        ),
        1_000,
    ),
    Text: _Shape(("text",), lambda _, source: Text(source.get("text") or ""), 100),
}


def read_pages(index: IndexClient, overlaps: Overlaps, ids: Iterable[str], fields: type[Fields]) -> dict[str, Fields]:
    """Read pages by id; those that do not exist are left out. `overlaps` caches the candidates found last."""
    shape, wanted = SHAPES[fields], list(ids)
    if isinstance(shape.fields, bool):
        sources = index.sources(wanted)
        return {id_: shape.make(id_, sources[id_]) for id_ in wanted if id_ in sources}
    documents = overlaps.documents(wanted, shape.fields)
    return {id_: shape.make(*documents[id_]) for id_ in wanted if id_ in documents}


def scan_pages(
    index: IndexClient, fields: type[Fields], where: Filters, *, order: Order, limit: int | None, offset: int
) -> Iterator[Fields]:
    """Read all pages that meet `where`. A scan in the order of writing, without a key or a limit, is of one moment."""
    shape = SHAPES[fields]
    by_key = isinstance(where, Selection) and where.by_key
    if order == "written" and not by_key and limit is None:
        found = scan(index, conditions(where), size=shape.batch, fields=shape.fields)
    else:
        found = _hits(index, shape, where, order=order, end=None if limit is None else offset + limit)
    made = (shape.make(hit["_id"], hit["_source"]) for hit in found)
    return islice(made, offset, None if limit is None else offset + max(limit, 0))


def _hits(index: IndexClient, shape: _Shape, where: Filters, *, order: Order, end: int | None) -> Iterator[Hit]:
    size = FIRST_BATCH if end is None else min(max(end, 1), MAX_RESULT_WINDOW)
    urls = _urls(where)
    names = shape.fields if isinstance(shape.fields, bool) or urls is None else [*shape.fields, "url"]
    search = pages(conditions(where), order=order, size=size, fields=names)
    while True:
        hits = index.hits(search)
        # A URL that is too long to be indexed is found among all such URLs.
        yield from (hit for hit in hits if urls is None or hit["_source"]["url"] in urls)
        if len(hits) < search["size"]:
            return
        search |= {"search_after": hits[-1]["sort"], "size": min(search["size"] * GROWTH, shape.batch)}


def _urls(where: Filters) -> set[str] | None:
    """Return the URLs that are wanted, or None if the selection is not by URL."""
    if not isinstance(where, Selection) or (where.url is None and where.urls is None):
        return None
    return {storable(url) for url in (where.urls if where.url is None else [where.url]) or ()}
