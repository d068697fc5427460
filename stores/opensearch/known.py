"""What of pages that come is in the store already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from opensearch_winnow.mappings.record import Record, Stored
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import first
from opensearch_winnow.stores.opensearch.cluster import Cluster

FIELDS = ("url", "content_digest", "text_digest", "shingle_digest", "place")
MANY = 100  # pages with the same shingles


class KnownPages:
    """Looks for captures, and for pages with the same shingles; not again for those that a great many pages have."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._told: set[tuple[int, str]] = set()  # time and digest

    def look_up(self, records: Sequence[Record], *, before: int) -> Iterator[tuple[int, Stored]]:
        """Those that were first written before this time, with their places."""
        digests = {record.shingle_digest for record in records if record.shingle_count}
        asked = [each for each in digests if (before, each) not in self._told]
        captures: Clause = {"ids": {"values": [record.id for record in records]}}
        equals: Clause = {"terms": {"shingle_digest": asked}}
        filters: list[Clause] = [{"range": {"place": {"lt": before}}}, {"bool": {"should": [captures, equals]}}]
        pages: Counter[str] = Counter()
        for hit in self._cluster.all_hits(first(filters, fields=FIELDS)):
            source = hit["_source"]
            pages[source["shingle_digest"]] += 1
            yield source["place"], Stored(hit["_id"], *(source[name] for name in FIELDS[:4]))
        self._told |= {(before, each) for each in asked if pages[each] > MANY}
