"""Reads pages from the index: by id, by a selection, or because records to be written may repeat them."""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.hash_tokens import unpacked_tokens
from opensearch_winnow.mappings.opensearch_document import CARD_FIELDS, ENTRY_FIELDS, any_card_of, entry_of, record_of
from opensearch_winnow.mappings.record import Record, StoredDigests, storable
from opensearch_winnow.queries.dsl.filters import Clause, conditions
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER, first, pages
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.stores.opensearch.candidates import Overlaps
from opensearch_winnow.stores.opensearch.index_client import EngineHit, IndexClient
from opensearch_winnow.stores.store import Fields, Order, Text

DIGEST_FIELDS = ("url", "content_digest", "text_digest", "shingle_digest")
FIRST_BATCH = 16  # pages of a selection by key; each next batch is larger, since most selections end here
GROWTH = 8
KEEP_ALIVE = "10m"  # the longest pause of a scan, after which the engine drops the frozen state
MAX_COPIES = 100  # pages with the same shingles; if there are more, they are looked up once a run


class _DocumentShape(NamedTuple):
    """The fields of a document that the fields of a page are read from."""

    fields: Sequence[str] | bool  # of `_source`; True: all
    make: Callable[[str, Mapping[str, Any]], Any]  # from `_id` and `_source`
    batch: int  # pages in memory during a scan


SHAPES: dict[type, _DocumentShape] = {
    Record: _DocumentShape(True, lambda _, source: record_of(source), 100),
    Card: _DocumentShape(CARD_FIELDS, any_card_of, 1_000),
    CaptureEntry: _DocumentShape(ENTRY_FIELDS, entry_of, 1_000),
    StoredDigests: _DocumentShape(
        DIGEST_FIELDS,
        lambda id_, source: StoredDigests(id_, *(source.get(name) or "" for name in DIGEST_FIELDS)),
        1_000,
    ),
    Sketches: _DocumentShape(
        ("shingle_count", "sketch", "minhash"),
        lambda _, source: Sketches(
            source.get("shingle_count") or 0,
            unpacked_tokens(source.get("sketch") or ""),
            b64decode(source.get("minhash") or ""),
        ),
        1_000,
    ),
    Text: _DocumentShape(("text",), lambda _, source: Text(source.get("text") or ""), 100),
}


def read_pages(index: IndexClient, overlaps: Overlaps, ids: Iterable[str], fields: type[Fields]) -> dict[str, Fields]:
    """Read pages by id; missing pages are left out. `overlaps` caches the candidates found last."""
    shape, wanted = SHAPES[fields], list(ids)
    if isinstance(shape.fields, bool):
        sources = index.sources(wanted)
        return {id_: shape.make(id_, sources[id_]) for id_ in wanted if id_ in sources}
    documents = overlaps.documents(wanted, shape.fields)
    return {id_: shape.make(*documents[id_]) for id_ in wanted if id_ in documents}


def scan_pages(
    index: IndexClient, fields: type[Fields], where: Filters, *, order: Order, limit: int | None, offset: int
) -> Iterator[Fields]:
    """Read all pages that meet `where`. In the order of writing, without a key or a limit, they are of one moment."""
    shape = SHAPES[fields]
    by_key = isinstance(where, Selection) and where.by_key
    if order == "written" and not by_key and limit is None:
        found = scan(index, conditions(where), size=shape.batch, fields=shape.fields)
    else:
        found = _hits(index, shape, where, order=order, end=None if limit is None else offset + limit)
    made = (shape.make(hit["_id"], hit["_source"]) for hit in found)
    return islice(made, offset, None if limit is None else offset + max(limit, 0))


def scan(
    index: IndexClient, filters: Sequence[Clause], *, size: int, fields: Sequence[str] | bool
) -> Iterator[EngineHit]:
    """Yield the hits for `filters` as of one moment, in the order of first writes; `size` are in memory at a time."""
    search = first(filters, size=size, fields=fields)
    return _by_points_in_time(index, search) if index.engine.point_in_time else _by_scroll(index, search)


class KnownPages:
    """Finds stored captures, and pages with the same shingles. Looks up the digests of many pages only once."""

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self._done: set[tuple[int, str]] = set()  # `before` and digest of look-ups that are not repeated

    def look_up(self, records: Sequence[Record], *, before: int) -> Iterator[tuple[int, StoredDigests]]:
        """Find pages that were first written before `before` (nanoseconds since 1970), each with its arrival."""
        digests = {record.hashes.shingle_digest for record in records if record.hashes.shingle_count}
        wanted = [each for each in digests if (before, each) not in self._done]
        captures: Clause = {"ids": {"values": [record.id for record in records]}}
        equals: Clause = {"terms": {"shingle_digest": wanted}}
        filters: list[Clause] = [{"range": {"arrival": {"lt": before}}}, {"bool": {"should": [captures, equals]}}]
        counts: Counter[str] = Counter()
        for hit in self._index.all_hits(first(filters, fields=(*DIGEST_FIELDS, "arrival"))):
            source = hit["_source"]
            counts[source["shingle_digest"]] += 1
            yield source["arrival"], StoredDigests(hit["_id"], *(source[name] for name in DIGEST_FIELDS))
        self._done |= {(before, each) for each in wanted if counts[each] > MAX_COPIES}


def _hits(
    index: IndexClient, shape: _DocumentShape, where: Filters, *, order: Order, end: int | None
) -> Iterator[EngineHit]:
    size = FIRST_BATCH if end is None else min(max(end, 1), MAX_HITS_PER_ANSWER)
    urls = _urls(where)
    names = shape.fields if isinstance(shape.fields, bool) or urls is None else [*shape.fields, "url"]
    search = pages(conditions(where), order=order, size=size, fields=names)
    while True:
        hits = index.hits(search)
        # A URL that is too long to be indexed is sought among all such URLs.
        yield from (hit for hit in hits if urls is None or hit["_source"]["url"] in urls)
        if len(hits) < search["size"]:
            return
        search |= {"search_after": hits[-1]["sort"], "size": min(search["size"] * GROWTH, shape.batch)}


def _urls(where: Filters) -> set[str] | None:
    """Return the URLs of a selection by URL; None for any other."""
    if not isinstance(where, Selection) or (where.url is None and where.urls is None):
        return None
    return {storable(url) for url in (where.urls if where.url is None else [where.url]) or ()}


def _by_points_in_time(index: IndexClient, search: dict[str, Any]) -> Iterator[EngineHit]:
    point = index.open_point(KEEP_ALIVE)
    try:
        yield from index.all_hits(search | {"pit": {"id": point, "keep_alive": KEEP_ALIVE}})
    finally:
        index.close_point(point)


def _by_scroll(index: IndexClient, search: dict[str, Any]) -> Iterator[EngineHit]:
    answer = index.search(search | {"track_total_hits": True}, scroll=KEEP_ALIVE)  # a scroll requires a total
    try:
        while hits := answer["hits"]["hits"]:
            yield from hits
            answer = index.scroll(answer["_scroll_id"], KEEP_ALIVE)
    finally:
        index.clear_scroll(answer["_scroll_id"])
