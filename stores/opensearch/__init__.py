"""The store on OpenSearch: an alias, the index behind it, and an index for its settings."""

from __future__ import annotations

from array import array
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from types import TracebackType
from typing import Any, Self

from opensearchpy import NotFoundError, OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.hash_tokens import tokens_of, unpacked_tokens
from opensearch_winnow.mappings.opensearch_document import CARD_FIELDS, card_of, record_of
from opensearch_winnow.mappings.opensearch_mapping import written_in
from opensearch_winnow.mappings.record import Record, RecordsError, Stored, storable
from opensearch_winnow.mappings.written_scheme import WrittenScheme
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW, capture, captures, first
from opensearch_winnow.queries.dsl.words import words_query
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.lookups import Field, Lookup
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.opened_scheme import opened_scheme
from opensearch_winnow.stores.opensearch.client import Address, connect
from opensearch_winnow.stores.opensearch.cluster import Cluster
from opensearch_winnow.stores.opensearch.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.known import KnownPages
from opensearch_winnow.stores.opensearch.overlaps import Overlaps
from opensearch_winnow.stores.opensearch.scans import scan
from opensearch_winnow.stores.opensearch.search import search_words
from opensearch_winnow.stores.opensearch.shards import Shards
from opensearch_winnow.stores.opensearch.statistics import statistics
from opensearch_winnow.stores.opensearch.stored_clusters import StoredClusters
from opensearch_winnow.stores.opensearch.stored_settings import StoredSettings
from opensearch_winnow.stores.opensearch.views import ClusterView, ScrolledView
from opensearch_winnow.stores.opensearch.writes import Writer
from opensearch_winnow.stores.store import Candidate, ClusterSize, Hits, Statistics, StoreError, Written
from opensearch_winnow.stores.view_cache import ViewCache

RECORDS = 100  # in memory while all are read
CARDS = 1_000
FEW = 10  # pages with one payload, of which the first mostly has a text


class OpenSearchStore:
    """A store on a cluster. Several threads may read it while one writes; others, and other processes, open it too.

    What a write or a deletion has done is seen by everyone when it returns. Two that write captures of one URL at the
    same time may both believe theirs to be the latest, until the next write of that URL.
    """

    def __init__(self, cluster: Cluster, scheme: Scheme, *, own_client: bool = True) -> None:
        self._cluster = cluster
        self._scheme = scheme
        self._own_client = own_client
        self._writer = Writer(cluster)
        self._shards = Shards(cluster)
        self._overlaps = Overlaps(cluster)
        self._known = KnownPages(cluster)
        self._settings = StoredSettings(cluster)
        self._clusters = StoredClusters(cluster)
        self._views: ViewCache[ScrolledView] = ViewCache()

    @classmethod
    def open(
        cls,
        name: str,
        scheme: Scheme | None = None,
        *,
        create: bool = False,
        key: str | None = None,
        client: OpenSearch | None = None,
    ) -> Self:
        """Open http(s)://host:port/NAME; with `create`, set it up if it is not there.

        It says which scheme it has, but for the key, if there is one. A client that is given is not closed.
        """
        address = Address.of(name)
        if scheme is not None and key is not None:
            scheme = replace(scheme, key=key)
        used = client or connect(address)
        try:
            cluster, found = _cluster(used, address, (scheme or Scheme(key=key)) if create else None)
            return cls(cluster, opened_scheme(cluster.name, found, scheme, key), own_client=client is None)
        except BaseException:
            if client is None:
                used.close()
            raise

    @classmethod
    def exists(cls, name: str, *, client: OpenSearch | None = None) -> bool:
        """Whether there is an index or an alias of this name; if it is no store, opening it tells."""
        address = Address.of(name)
        used = client or connect(address)
        try:
            with reporting_engine_errors(str(address), "opened"):
                return bool(used.indices.exists(index=address.index))
        finally:
            if client is None:
                used.close()

    @property
    def name(self) -> str:
        return self._cluster.name

    @property
    def scheme(self) -> Scheme:
        return self._scheme

    def write(self, records: Sequence[Record]) -> list[Written]:
        self._overlaps.forget()
        return self._writer.write(records)

    def known(self, records: Sequence[Record], *, before: int) -> Iterator[tuple[int, Stored]]:
        return self._known.look_up(records, before=before)

    def get(self, ids: Iterable[str]) -> dict[str, Record]:
        return {id_: record_of(source) for id_, source in self._cluster.sources(ids).items()}

    def captures(self, url: str, *, limit: int | None = None) -> list[Card]:
        asked = captures(url, fields=CARD_FIELDS)
        found = self._cluster.all_hits(
            asked if limit is None else asked | {"size": min(max(limit, 1), MAX_RESULT_WINDOW)}
        )
        cards = (card_of(hit["_id"], hit["_source"]) for hit in found)
        return list(islice((card for card in cards if card.url == storable(url)), limit))

    def with_payload(self, digest: str) -> str | None:
        # A page that was read has a digest of its text, even where texts are not kept. A revisit has none.
        asked = first([{"term": {"payload_digest": storable(digest)}}], size=FEW, fields=["text_digest"])
        return next((hit["_id"] for hit in self._cluster.all_hits(asked) if hit["_source"]["text_digest"]), None)

    def capture(self, url: str, until: datetime | None = None) -> Record | None:
        # The first one, unless the URL is too long to be indexed.
        found = (record_of(hit["_source"]) for hit in self._cluster.all_hits(capture(url, until)))
        return next((record for record in found if record.url == storable(url)), None)

    def overlaps(self, lookups: Sequence[Lookup], where: Filters = Filters()) -> list[list[Candidate]]:
        return self._overlaps.find(lookups, where)

    def rare_overlaps(
        self,
        lookups: Sequence[Lookup],
        where: Filters = Filters(),
        *,
        over: int,
        checked: Collection[Field],
    ) -> list[list[Candidate]] | None:
        """As `overlaps`, if no token of the fields that are checked is on more than so many pages, as `frequent` would
        tell: both in one request. Else None, at times also where only all of them together are on more."""
        return self._overlaps.find_rare(lookups, where, over=over, checked=checked)

    def frequent(self, lookups: Sequence[Lookup], *, over: int) -> list[dict[int, int]]:
        tokens = [dict(zip(tokens_of(each.tokens), each.tokens, strict=True)) for each in lookups]
        asked: dict[str, dict[str, int]] = {}
        for lookup, each in zip(lookups, tokens, strict=True):
            asked.setdefault(lookup.field, {}).update(each)
        pages = self._shards.frequent(asked, over=over)
        return [
            {hash_: pages[lookup.field, token] for token, hash_ in each.items() if (lookup.field, token) in pages}
            for lookup, each in zip(lookups, tokens, strict=True)
        ]

    def minhashes(self, ids: Sequence[str]) -> list[bytes]:
        return [b64decode(minhash or "") for minhash in self._field("minhash", ids)]

    def sketches(self, ids: Sequence[str]) -> list[array[int]]:
        return [unpacked_tokens(sketch or "") for sketch in self._field("sketch", ids)]

    def texts(self, ids: Sequence[str]) -> list[str]:
        return [text or "" for text in self._field("text", ids)]

    def search(self, words: Words, where: Filters = Filters(latest=True), *, limit: int = 10, offset: int = 0) -> Hits:
        return search_words(self._cluster, words, where, limit=limit, offset=offset)

    def view(
        self, words: Words, where: Filters = Filters(latest=True), *, kept: bool = False, key: str = ""
    ) -> ClusterView:
        query = words_query(words, conditions(where))
        if not (kept or key):
            return ClusterView(self._cluster, query)
        if self._cluster.has_points_in_time:
            return ClusterView(self._cluster, query, key) if key else ClusterView.frozen(self._cluster, query)
        if key:
            return self._views.get(key, self.name)
        view = ScrolledView(self._cluster, query)
        view.key = self._views.keep(view)
        return view

    def scan(self, where: Filters = Filters()) -> Iterator[Record]:
        found = scan(self._cluster, conditions(where), size=RECORDS, fields=True)
        return (record_of(hit["_source"]) for hit in found)

    def cards(self, where: Filters = Filters()) -> Iterator[Card]:
        found = scan(self._cluster, conditions(where), size=CARDS, fields=CARD_FIELDS)
        return (card_of(hit["_id"], hit["_source"]) for hit in found)

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        return self._writer.set_clusters(clusters)

    def clusters(self, *, least: int = 2, limit: int, offset: int = 0) -> list[ClusterSize]:
        return self._clusters.sizes(least=least, limit=limit, offset=offset)

    def cluster_members(self, cluster: str, *, limit: int, offset: int = 0) -> list[Card]:
        return self._clusters.members(cluster, limit=limit, offset=offset)

    def delete(self, ids: Iterable[str]) -> int:
        self._overlaps.forget()
        return self._writer.delete(ids)

    def count(self, where: Filters = Filters()) -> int:
        return self._cluster.count(conditions(where))

    def statistics(self) -> Statistics:
        return statistics(self._cluster, [self._cluster.index, self._settings.index])

    def setting(self, name: str) -> Any:
        return self._settings.read(name)

    def settings(self, beginning: str = "") -> dict[str, Any]:
        return self._settings.read_all(beginning)

    def set_setting(self, name: str, value: Any) -> None:
        self._settings.change(name, value)

    def close(self) -> None:
        self._views.close()
        if self._own_client:
            self._cluster.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _field(self, name: str, ids: Sequence[str]) -> list[Any]:
        """Of pages by id, in their order; None where there is none."""
        found = self._overlaps.remembered(ids)
        unread = [id_ for id_ in ids if id_ not in found]
        if unread:
            found |= self._cluster.sources(unread, [name])
        return [found.get(id_, {}).get(name) for id_ in ids]


def _cluster(client: OpenSearch, address: Address, make_with: Scheme | None) -> tuple[Cluster, WrittenScheme]:
    """The indices of this address, and which scheme they tell."""
    name, index = str(address), address.index
    with reporting_engine_errors(name, "opened"):
        try:
            found = client.indices.get_mapping(index=index)
        except NotFoundError:
            if make_with is None:
                raise
            from opensearch_winnow.stores.opensearch.setup import set_up  # noqa: PLC0415 (not for those who only open)

            set_up(client, index, make_with)
            found = client.indices.get_mapping(index=index)
    if len(found) != 1:
        raise StoreError(f"{name} stands for {len(found)} indices, and a store is one: name one of {', '.join(found)}")
    ((concrete, described),) = found.items()
    try:
        return Cluster(client, name, index, alias=concrete != index), written_in(described["mappings"], name)
    except RecordsError as error:
        raise StoreError(str(error)) from None
