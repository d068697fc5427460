"""Looks up which of the records to be written are already in the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from opensearch_winnow.mappings.record import Record, StoredDigests
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import first
from opensearch_winnow.stores.opensearch.index_client import IndexClient

FIELDS = ("url", "content_digest", "text_digest", "shingle_digest", "place")
MAX_COPIES = 100  # pages with the same shingles; if there are more, they are looked up once a run


class KnownPages:
    """Finds stored captures, and pages with the same shingles. Digests that many pages have are looked up only once."""

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self._done: set[tuple[int, str]] = set()  # `before` and digest of what is not looked up again

    def look_up(self, records: Sequence[Record], *, before: int) -> Iterator[tuple[int, StoredDigests]]:
        """Find pages that were first written before `before` (nanoseconds since 1970), each with its place."""
        digests = {record.shingle_digest for record in records if record.shingle_count}
        wanted = [each for each in digests if (before, each) not in self._done]
        captures: Clause = {"ids": {"values": [record.id for record in records]}}
        equals: Clause = {"terms": {"shingle_digest": wanted}}
        filters: list[Clause] = [{"range": {"place": {"lt": before}}}, {"bool": {"should": [captures, equals]}}]
        pages: Counter[str] = Counter()
        for hit in self._index.all_hits(first(filters, fields=FIELDS)):
            source = hit["_source"]
            pages[source["shingle_digest"]] += 1
            yield source["place"], StoredDigests(hit["_id"], *(source[name] for name in FIELDS[:4]))
        self._done |= {(before, each) for each in wanted if pages[each] > MAX_COPIES}
