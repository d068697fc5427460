"""Reuses stores on the tests' engine, because emptying a store is faster than creating one."""

from __future__ import annotations

from itertools import count

from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.requests.client import Address, connect


class StorePool:
    """Hands out empty stores and takes them back when they are closed."""

    def __init__(self, url: str, prefix: str) -> None:
        self.client = connect(Address.of(f"{url}/{prefix}"))
        self._names = (f"{url}/{prefix}-{number}" for number in count())
        self._free: list[Pooled] = []

    def take(self) -> Pooled:
        if self._free:
            store = self._free.pop()
            store.empty()
            return store
        store = Pooled.open(next(self._names), create=True, client=self.client)
        store.free = self._free
        # Faster. No test needs its writes to survive a power failure.
        self.client.indices.put_settings(index=store.index, body={"index": {"translog.durability": "async"}})
        return store


class Pooled(OpenSearchStore):
    """A store that returns to its pool when it is closed."""

    free: list[Pooled]

    @property
    def index(self) -> str:
        return self._index.index_name

    def empty(self) -> None:
        # Deleted documents stay in the segments for a while. Code that counts them by mistake fails the tests.
        search = {"size": 10_000, "_source": False}
        while hits := self._index.client.search(index=self.index, body=search)["hits"]["hits"]:
            lines = [{"delete": {"_index": hit["_index"], "_id": hit["_id"]}} for hit in hits]
            self._index.client.bulk(body=lines, params={"refresh": "true"})
        if names := self.settings.names():
            self.settings.set(dict.fromkeys(names))

    def close(self) -> None:
        super().close()
        self.free.append(self)
