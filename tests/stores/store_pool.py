"""Stores on the engine of the tests that are used again and again: to empty one is quicker than to make one."""

from __future__ import annotations

from itertools import count

from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.client import Address, connect


class StorePool:
    """Hands out empty stores, which come back as they are closed."""

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
        # No machine of these tests loses its power.
        self.client.indices.put_settings(index=store.index, body={"index": {"translog.durability": "async"}})
        return store


class Pooled(OpenSearchStore):
    free: list[Pooled]

    @property
    def index(self) -> str:
        return self._cluster.index

    def empty(self) -> None:
        # What is deleted is still there for whoever counts carelessly.
        self._cluster.client.delete_by_query(
            index=self.index, body={"query": {"match_all": {}}}, params={"refresh": "true", "conflicts": "proceed"}
        )
        for name in self.settings():
            self.set_setting(name, None)

    def close(self) -> None:
        super().close()
        self.free.append(self)
