"""A store by its name: opened if it is there, and else made as something is put into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.opening import open_store, shown, store_exists
from opensearch_winnow.stores.store import Store

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


class LazyStore:
    def __init__(
        self, name: str, scheme: Scheme | None, *, create: bool, key: str | None, client: OpenSearch | None
    ) -> None:
        self.name = shown(name)
        self._address = name  # with the credentials, if it has some
        self._client = client
        self._wanted = scheme
        self._create = create
        self._key = key
        self._store: Store | None = None
        if not create or store_exists(name, client):
            self.get()

    def get(self, *, make: bool = False) -> Store:
        """With `make`, one that is not there is made, if that was wanted as it was opened."""
        if self._store is None:
            create = make and self._create
            self._store = open_store(self._address, self._wanted, create=create, key=self._key, client=self._client)
        return self._store

    @property
    def scheme(self) -> Scheme:
        return (self._wanted or Scheme(key=self._key)) if self._store is None else self._store.scheme

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
