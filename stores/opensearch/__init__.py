"""The store on OpenSearch: an alias, the index behind it, and an index for its settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from opensearchpy import NotFoundError, OpenSearch

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.hash_tokens import tokens_of
from opensearch_winnow.mappings.opensearch_mapping import META, missing_fields, written_in
from opensearch_winnow.mappings.record import Record, RecordsError, StoredDigests
from opensearch_winnow.mappings.written_scheme import WrittenScheme
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.queries.dsl.filters import Clause, conditions
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.opened_scheme import opened_scheme
from opensearch_winnow.stores.opensearch.candidates import Overlaps
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.opensearch.own_index.attached_index_client import AttachedIndexClient
from opensearch_winnow.stores.opensearch.own_index.attached_opening import (
    Mappings,
    attached_index_client,
    attachment_of,
)
from opensearch_winnow.stores.opensearch.own_index.attached_template import check_attached_by_itself
from opensearch_winnow.stores.opensearch.own_index.attached_writer import AttachedWriter
from opensearch_winnow.stores.opensearch.own_index.backfill import Backfill
from opensearch_winnow.stores.opensearch.own_index.run_lock import RunLock
from opensearch_winnow.stores.opensearch.reading import KnownPages, read_pages, scan_pages
from opensearch_winnow.stores.opensearch.requests.client import Address, connect
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.statistics import Shards, crawls, statistics
from opensearch_winnow.stores.opensearch.stored_clusters import StoredClusters
from opensearch_winnow.stores.opensearch.stored_settings import StoredSettings
from opensearch_winnow.stores.opensearch.views import OpenSearchView, ScrolledView
from opensearch_winnow.stores.opensearch.writes import Writer
from opensearch_winnow.stores.store import (
    CandidatesOfLookup,
    ClusterSize,
    Crawl,
    Fields,
    LookupsOfQuestion,
    Order,
    Sizes,
    Statistics,
    StoreError,
    WriteOutcome,
)
from opensearch_winnow.stores.view_cache import ViewCache


class OpenSearchStore(Closing):
    """A store in an index of OpenSearch. Several threads may read it while one writes; each process opens its own.

    When a write or a deletion returns, all readers see its effect. If two processes write captures of one URL at the
    same time, both captures may be marked as the latest until that URL is written again.
    """

    def __init__(
        self,
        index: IndexClient,
        scheme: Scheme,
        *,
        closes_client: bool = True,
        missing: Mapping[str, Any] | None = None,
    ) -> None:
        self._index = index
        self._scheme = scheme
        self._closes_client = closes_client
        self._missing = missing  # fields that the mapping lacks, because an older winnow made it
        self._settings = StoredSettings(index)
        self._writer = (
            AttachedWriter(index) if isinstance(index, AttachedIndexClient) else Writer(index, self._settings)
        )
        self._shards = Shards(index)
        self._overlaps = Overlaps(index)
        self._known = KnownPages(index)
        self._clusters = StoredClusters(index)
        self._views: ViewCache[ScrolledView] = ViewCache()
        self._lock: RunLock | None = None  # of the clustering run

    @classmethod
    def open(
        cls,
        name: str,
        scheme: Scheme | None = None,
        *,
        create: bool = False,
        key: str | None = None,
        client: OpenSearch | None = None,
        patient: bool = False,
    ) -> Self:
        """Open http(s)://host:port/NAME; with `create`, set it up if it does not exist.

        The index contains its scheme, except for a secret `key`. A given `client` is not closed with the store. Without
        one, a `patient` store repeats its requests for longer; see `connect`.
        """
        address = Address.of(name)
        used = client or connect(address, patient=patient)
        try:
            found = _mappings(used, address, with_key(scheme or Scheme(), key) if create else None)
            attachment = attachment_of(found, str(address))
            if attachment is not None:
                check_attached_by_itself(used, address, found, attachment)
                opened = opened_scheme(str(address), attachment.scheme, scheme, key)
                attached = attached_index_client(used, address, attachment, opened, found)
                return cls(attached, opened, closes_client=client is None)
            opened = opened_scheme(str(address), _written_scheme(found, str(address)), scheme, key)
            index = IndexClient(used, str(address), address.index, alias=address.index not in found)
            (described,) = found.values()
            missing = missing_fields(described["mappings"])
            return cls(index, opened, closes_client=client is None, missing=missing)
        except BaseException:
            if client is None:
                used.close()
            raise

    @classmethod
    def exists(cls, name: str, *, client: OpenSearch | None = None, patient: bool = False) -> bool:
        """Return whether an index or alias of this name exists; only opening it tells whether it is a store."""
        address = Address.of(name)
        used = client or connect(address, patient=patient)
        try:
            with reporting_engine_errors(str(address), "opened"):
                used.indices.get_mapping(index=address.index)  # unlike a HEAD request, it gives the reason of an error
                return True
        except StoreError as error:
            if isinstance(error.__cause__, NotFoundError):
                return False
            raise
        finally:
            if client is None:
                used.close()

    @property
    def name(self) -> str:
        return self._index.name

    @property
    def scheme(self) -> Scheme:
        return self._scheme

    @property
    def settings(self) -> StoredSettings:
        return self._settings

    def write(self, records: Sequence[Record]) -> list[WriteOutcome]:
        self._overlaps.forget()
        self._add_missing_fields()
        return self._writer.write(records)

    def known(self, records: Sequence[Record], *, before: int) -> Iterator[tuple[int, StoredDigests]]:
        return self._known.look_up(records, before=before)

    def delete(self, ids: Iterable[str]) -> int:
        self._overlaps.forget()
        return self._writer.delete(ids)

    def set_fingerprints(self, records: Sequence[Record]) -> int:
        self._overlaps.forget()
        return self._writer.set_fingerprints(records)

    def set_texts(self, records: Sequence[Record]) -> int:
        self._overlaps.forget()
        self._add_missing_fields()
        return self._writer.set_texts(records)

    def _add_missing_fields(self) -> None:
        if self._missing:
            with reporting_engine_errors(self.name, "written"):
                self._index.client.indices.put_mapping(index=self._index.index_name, body={"properties": self._missing})
            self._missing = None

    def erase(self) -> None:
        """Merge the segments that have deleted pages. Snapshots keep them."""
        self._writer.erase()

    def read(self, ids: Iterable[str], fields: type[Fields]) -> dict[str, Fields]:
        return read_pages(self._index, self._overlaps, ids, fields)

    def scan(
        self,
        fields: type[Fields],
        where: Filters = Filters(),
        *,
        order: Order = "written",
        limit: int | None = None,
        offset: int = 0,
    ) -> Iterator[Fields]:
        return scan_pages(self._index, fields, where, order=order, limit=limit, offset=offset)

    def count(self, where: Filters = Filters()) -> int:
        return self._index.count(conditions(where))

    def candidates(
        self, questions: Sequence[LookupsOfQuestion], where: Filters = Filters(), check: FrequencyCheck | None = None
    ) -> list[list[CandidatesOfLookup]]:
        self._overlaps.forget()
        filters = [self._filters(where, each.sizes) for each in questions]
        if check is None:
            return self._overlaps.find(questions, filters)
        # Usually no token is frequent: one request shows that, and finds the pages.
        found = self._overlaps.find_rare(questions, filters, check)
        if others := [number for number, rare in enumerate(found) if rare is None]:
            lookups = [lookup for number in others for lookup in questions[number].lookups]
            trimmed = iter(check.trimmed(lookups, lambda checked: self.frequencies(checked, over=check.max_pages)))
            again = [LookupsOfQuestion([next(trimmed) for _ in questions[number].lookups]) for number in others]
            rest = self._overlaps.find(again, [filters[number] for number in others])
            for number, candidates in zip(others, rest, strict=True):
                found[number] = candidates
        return [each for each in found if each is not None]

    def _filters(self, where: Filters, sizes: Sizes | None) -> list[Clause]:
        filters = conditions(where)
        if sizes is not None and self._index.engine.searches_doc_values:
            filters.append({"range": {"shingle_count": {"gte": sizes.least, "lte": sizes.most}}})
        return filters

    def frequencies(self, lookups: Sequence[Lookup], *, over: int) -> list[dict[int, int]]:
        hashes = [dict(zip(tokens_of(each.tokens), each.tokens, strict=True)) for each in lookups]
        tokens: dict[str, dict[str, int]] = {}
        for lookup, each in zip(lookups, hashes, strict=True):
            tokens.setdefault(lookup.field, {}).update(each)
        pages = self._shards.frequent(tokens, over=over)
        return [
            {hash_: pages[lookup.field, token] for token, hash_ in each.items() if (lookup.field, token) in pages}
            for lookup, each in zip(lookups, hashes, strict=True)
        ]

    def view(
        self, words: Words, where: Filters = Filters(latest=True), *, keep_open: bool = False, key: str = ""
    ) -> OpenSearchView:
        if not (keep_open or key):
            return OpenSearchView(self._index, words, where)
        if self._index.engine.point_in_time:
            frozen = OpenSearchView.frozen
            return OpenSearchView(self._index, words, where, key) if key else frozen(self._index, words, where)
        if key:
            return self._views.get(key, self.name)
        view = ScrolledView(self._index, words, where)
        view.key = self._views.keep(view)
        return view

    @contextmanager
    def clustering(self) -> Iterator[None]:
        if not isinstance(self._index, AttachedIndexClient):
            yield
            return
        with RunLock(self._index, "cluster") as self._lock:
            try:
                yield
            finally:
                self._lock = None

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        if self._lock is not None:
            self._lock.check()
        return self._writer.set_clusters(clusters)

    def clusters(
        self, *, min_pages: int = 2, site: str | None = None, limit: int, offset: int = 0
    ) -> list[ClusterSize]:
        return self._clusters.sizes(min_pages=min_pages, site=site, limit=limit, offset=offset)

    def crawls(self) -> list[Crawl]:
        return crawls(self._index)

    def statistics(self) -> Statistics:
        found = statistics(self._index, [self._index.index_name, self._settings.index])
        if not isinstance(self._index, AttachedIndexClient):
            return found
        return found._replace(stale=Backfill(self._index).stale())

    def close(self) -> None:
        self._views.close()
        if self._closes_client:
            self._index.client.close()


def _mappings(client: OpenSearch, address: Address, create_with: Scheme | None) -> Mappings:
    """Return the mappings of the indices at `address`. A missing store is created with the scheme `create_with`."""
    with reporting_engine_errors(str(address), "opened"):
        try:
            found: Mappings = client.indices.get_mapping(index=address.index)
        except NotFoundError:
            if create_with is None:
                raise
            from opensearch_winnow.stores.opensearch.upkeep.setup import set_up  # noqa: PLC0415 (only to create)

            set_up(client, address.index, create_with)
            found = client.indices.get_mapping(index=address.index)
    return found


def _written_scheme(found: Mappings, name: str) -> WrittenScheme:
    if len(found) != 1:
        if not any(META in each["mappings"].get("_meta", {}) for each in found.values()):
            raise StoreError(
                f"{name} stands for {len(found)} indices, and is not a store of winnow; `winnow attach` makes it one"
            )
        raise StoreError(f"{name} is an alias of {len(found)} indices; name one of them: {', '.join(found)}")
    (described,) = found.values()
    try:
        return written_in(described["mappings"], name)
    except RecordsError as error:
        raise StoreError(str(error)) from None
